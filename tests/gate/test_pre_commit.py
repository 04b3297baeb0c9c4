"""The pre-commit hook, by pre-commit itself: the manifest is valid, and a bad model stops a commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from outlive import demo_models

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"


def run(*words: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(words), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """pre-commit and outlive of this Python, and no configuration of the user's."""
    paths = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    who = {f"GIT_{part}_{key}": "a@b" for part in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        **who,
        "PATH": paths,
        "PRE_COMMIT_HOME": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT / "src"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def make(folder: Path, environment: dict[str, str]) -> str:
    """A repository with what is in the folder; its commit."""
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        assert run("git", *words, folder=folder, environment=environment).returncode == 0
    return run("git", "rev-parse", "HEAD", folder=folder, environment=environment).stdout.strip()


def test_the_manifest_is_valid(environment: dict[str, str]) -> None:
    done = run("pre-commit", "validate-manifest", str(MANIFEST), folder=ROOT, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_bad_model_stops_a_commit(tmp_path: Path, environment: dict[str, str]) -> None:
    hooks, project = tmp_path / "hooks", tmp_path / "project"
    hooks.mkdir()
    project.mkdir()
    shutil.copy(MANIFEST, hooks)
    commit = make(hooks, environment)
    # The hook as it is, but for the installation: outlive is taken from this environment.
    config = (
        f"repos:\n- repo: {hooks}\n  rev: {commit}\n  hooks:\n  - id: outlive-check\n    language: system\n"
    )
    (project / ".pre-commit-config.yaml").write_text(config)
    (project / "outlive.toml").write_text('exclude = ["broken/"]\n')
    make(project, environment)
    assert run("pre-commit", "install", folder=project, environment=environment).returncode == 0

    shutil.copy(demo_models.path("healthy_int8"), project / "good.tflite")
    (project / "notes.txt").write_text("not a model")
    assert _commit(project, environment).returncode == 0
    (project / "tests" / "broken").mkdir(parents=True)
    shutil.copy(demo_models.path("deadly"), project / "tests" / "broken" / "meant.tflite")
    assert _commit(project, environment).returncode == 0  # it is excluded
    shutil.copy(demo_models.path("deadly"), project / "a bad one.tflite")
    stopped = _commit(project, environment)
    assert stopped.returncode != 0
    assert "check TensorFlow Lite models" in stopped.stderr + stopped.stdout
    assert "a bad one.tflite" in stopped.stderr + stopped.stdout
    assert "good.tflite" not in stopped.stderr + stopped.stdout


def _commit(project: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    assert run("git", "add", "-A", folder=project, environment=environment).returncode == 0
    return run("git", "commit", "-m", "more", folder=project, environment=environment)
