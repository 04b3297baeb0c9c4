"""`outlive check --changed`: the models that git says have changed, in real repositories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from outlive import demo_models
from outlive.cli.main import main
from outlive.project.changed import GitError, changed_models


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def put(name: str, model: str = "healthy") -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(demo_models.path(model), name)


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a committed model, as the current folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name, value in {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(name, value)
    git("init", "-q", "-b", "main")
    git("config", "user.email", "a@example.org")
    git("config", "user.name", "a")
    Path("outlive.toml").write_text("")
    put("old.tflite")
    put("deleted.tflite")
    commit("first")
    return folder


def commit(text: str) -> None:
    git("add", "-A")
    git("commit", "-q", "-m", text)


def test_nothing_has_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--changed"]) == 0
    assert "No model has changed" in capsys.readouterr().out
    assert main(["check", "--changed", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == []


def test_what_has_changed_is_found() -> None:
    put("old.tflite", "healthy_int8")
    put("new.tflite")
    put("staged.tflite")
    put("sub/a b\n\u00fc.TFLITE")
    put("ignored.tflite")
    Path("notes.txt").write_text("x")
    Path(".gitignore").write_text("ignored.tflite\n")
    os.remove("deleted.tflite")
    git("add", "staged.tflite")
    assert set(changed_models("HEAD")) == {
        "old.tflite",
        "new.tflite",
        "staged.tflite",
        "sub/a b\n\u00fc.TFLITE",
    }
    assert changed_models("HEAD", ["sub"]) == ["sub/a b\n\u00fc.TFLITE"]
    assert changed_models("HEAD", ["new.tflite", "old.tflite"]) == ["new.tflite", "old.tflite"]


def test_a_branch_is_compared_from_where_it_parted() -> None:
    git("checkout", "-q", "-b", "work")
    put("mine.tflite")
    commit("mine")
    git("checkout", "-q", "main")
    put("theirs.tflite")
    commit("theirs")
    git("checkout", "-q", "work")
    assert changed_models("main") == ["mine.tflite"]
    assert changed_models("HEAD~1") == ["mine.tflite"]
    assert changed_models("HEAD") == []


def test_names_are_seen_from_the_folder_we_are_in(monkeypatch: pytest.MonkeyPatch) -> None:
    put("deep/er/new.tflite")
    put("top.tflite")
    monkeypatch.chdir("deep")
    assert changed_models("HEAD") == ["er/new.tflite", "../top.tflite"]


def test_a_repository_without_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    git("init", "-q")
    put("new.tflite")
    put("staged.tflite")
    git("add", "staged.tflite")
    assert changed_models("HEAD") == ["new.tflite", "staged.tflite"]


def test_unrelated_histories_are_compared_as_they_are() -> None:
    git("checkout", "-q", "--orphan", "other")
    put("new.tflite")
    commit("other")
    assert changed_models("main") == ["new.tflite"]


def test_a_renamed_model_counts() -> None:
    git("mv", "old.tflite", "moved.tflite")
    assert changed_models("HEAD") == ["moved.tflite"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--changed=nowhere"], "git knows no revision 'nowhere'"),
        (["--changed", "old.tflite"], "write --changed=REV FILE"),
        (["--changed=--output=x"], "is no revision"),
        (["--changed="], "is no revision"),
        (["--changed=HEAD", "typo/"], "there is no typo/"),
    ],
)
def test_what_cannot_be_is_usage(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *words]) == 2
    assert said in capsys.readouterr().err
    assert not Path("x").exists()


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(GitError, match="needs a git repository"):
        changed_models("HEAD")


def test_without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="not installed"):
        changed_models("HEAD")


def test_what_is_wrong_with_a_changed_model_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    put("bad.tflite", "deadly")
    assert main(["check", "--changed", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["model"]["path"] == "bad.tflite"


def test_excluded_files_are_not_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    Path("outlive.toml").write_text('exclude = ["broken/", "*_bad.tflite"]\n')
    put("broken/deep/x.tflite", "deadly")
    put("one_bad.tflite", "deadly")
    assert main(["check", "--changed"]) == 0
    assert main(["check", "one_bad.tflite"]) == 1


@pytest.mark.parametrize("pattern", ["broken/", "broken", "tests/broken", "tests/broken/", "**/broken/"])
def test_folders_are_excluded_wherever_they_are(pattern: str) -> None:
    Path("outlive.toml").write_text(f'exclude = ["{pattern}"]\n')
    put("tests/broken/deep/x.tflite", "deadly")
    assert main(["check", "--changed"]) == 0


def test_what_is_excluded_may_be_left_out_where_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("outlive.toml").write_text('exclude = ["broken/"]\n')
    put("broken/x.tflite", "deadly")
    assert main(["check", "broken/x.tflite"]) == 1
    capsys.readouterr()
    assert main(["check", "--force-exclude", "broken/x.tflite"]) == 0
    assert "all are excluded" in capsys.readouterr().out
    assert main(["check", "--force-exclude", "--no-config", "broken/x.tflite"]) == 1
    assert main(["check", "--force-exclude"]) == 0  # the whole folder, but for what is excluded


def test_a_place_that_was_deleted_is_no_slip() -> None:
    os.remove("deleted.tflite")
    assert changed_models("HEAD", ["deleted.tflite"]) == []


def test_a_changed_link_lies_where_it_is() -> None:
    put("store/real.tflite")
    Path("models").mkdir()
    Path("models/link.tflite").symlink_to("../store/real.tflite")
    assert changed_models("HEAD", ["models"]) == ["models/link.tflite"]
    assert changed_models("HEAD", ["models/link.tflite"]) == ["models/link.tflite", "store/real.tflite"]
    assert changed_models("HEAD", ["store"]) == ["store/real.tflite"]
    Path("other").symlink_to("store")
    assert changed_models("HEAD", ["other"]) == ["store/real.tflite"]
