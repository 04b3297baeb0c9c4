"""The GitHub Action as far as it runs without GitHub: its scripts, with the files and variables it gives."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from outlive import demo_models
from tests.gate.action_schema import action_schema

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass(kw_only=True)
class Runner:
    """What GitHub's runner does for a composite action: fills in inputs, runs scripts, reads the files."""

    folder: Path
    inputs: dict[str, str] = field(default_factory=dict)
    event: dict[str, str] = field(default_factory=dict)

    def value(self, text: str) -> str:
        """An expression, as far as the action uses them: names with `||` between them."""

        def fill(match: re.Match[str]) -> str:
            for name in match[1].split("||"):
                found = self.look_up(name.strip())
                if found:
                    return found
            return ""

        return EXPRESSION.sub(fill, text)

    def look_up(self, name: str) -> str:
        if name.startswith("inputs."):
            key = name.removeprefix("inputs.")
            return self.inputs.get(key, str(ACTION["inputs"][key].get("default", "")))
        assert name.startswith("github.event."), f"{name} is not known to this runner"
        return self.event.get(name.removeprefix("github.event."), "")

    def run(self, step: dict[str, Any], **more: str) -> tuple[int, str]:
        """Run a step; its exit code and what it printed."""
        given = {key: self.value(str(text)) for key, text in step.get("env", {}).items()}
        paths = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        environment = {**kept, "PATH": paths, "PYTHONPATH": str(ROOT / "src"), **given, **more}
        environment["GITHUB_OUTPUT"] = str(self.folder.parent / "output")
        environment["GITHUB_STEP_SUMMARY"] = str(self.folder.parent / "summary.md")
        environment["GITHUB_ACTION_PATH"] = str(ROOT)
        where = self.folder / self.value(step.get("working-directory", "."))
        # As the runner calls bash for `shell: bash`.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=where, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def outputs(self) -> dict[str, str]:
        lines = (self.folder.parent / "output").read_text("utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def summary(self) -> str:
        return (self.folder.parent / "summary.md").read_text("utf-8")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one good model."""
    folder = tmp_path / "project"
    (folder / "models").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git("init", "-q", "-b", "main")
    git("config", "user.email", "a@example.org")
    git("config", "user.name", "a")
    (folder / "outlive.toml").write_text("")
    shutil.copy(demo_models.path("healthy_int8"), folder / "models" / "good.tflite")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    return folder


def add(name: str, model: str) -> str:
    """Commit a model; the commit before."""
    before = git("rev-parse", "HEAD")
    shutil.copy(demo_models.path(model), name)
    git("add", "-A")
    git("commit", "-q", "-m", name)
    return before


def test_the_action_is_valid() -> None:
    jsonschema.validate(ACTION, action_schema())


def test_nothing_a_user_writes_is_part_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_a_pull_request_with_a_bad_model(project: Path) -> None:
    base = add("models/bad one.tflite", "deadly")
    runner = Runner(folder=project, event={"pull_request.base.sha": base})
    code, out = runner.run(STEPS["check"])
    assert code == 0, out  # the last step fails, when everything is written and uploaded
    assert "::error file=models/bad one.tflite" in out
    assert "good.tflite" not in out
    outputs = runner.outputs()
    assert outputs["exit-code"] == "1"
    log = json.loads(Path(outputs["sarif-file"]).read_text("utf-8"))
    assert [item["location"]["uri"] for item in log["runs"][0]["artifacts"]] == ["models/bad%20one.tflite"]
    assert "❌ models/bad one.tflite".replace(".", ".") in runner.summary()
    last = ACTION["runs"]["steps"][-1]
    ended, _ = Runner(folder=project).run({**last, "env": {"OUTLIVE_CODE": outputs["exit-code"]}})
    assert ended == 1


def test_a_pull_request_that_changes_no_model(project: Path) -> None:
    runner = Runner(folder=project, event={"pull_request.base.sha": git("rev-parse", "HEAD")})
    code, out = runner.run(STEPS["check"])
    assert (code, runner.outputs()["exit-code"]) == (0, "0"), out
    assert "none has changed" in runner.summary()


def test_a_new_branch_has_all_its_models_checked(project: Path) -> None:
    runner = Runner(folder=project, event={"before": "0" * 40})
    code, out = runner.run(STEPS["check"])
    assert (code, runner.outputs()["exit-code"]) == (0, "0"), out
    assert "good" in runner.summary()


def test_a_shallow_checkout_fetches_what_it_needs(project: Path, tmp_path: Path) -> None:
    base = add("models/bad.tflite", "deadly")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    shallow = tmp_path / "shallow"
    git("clone", "-q", "--depth=1", f"file://{project}", str(shallow))
    code, out = Runner(folder=shallow, event={"pull_request.base.sha": base}).run(STEPS["check"])
    assert code == 0
    assert "models/bad.tflite" in out


def test_patterns_devices_and_rules(project: Path) -> None:
    add("models/other.tflite", "healthy")
    inputs = {
        "files": "models/g*.tflite\n\nmodels/other.tflite\nmodels/nothing here.tflite",
        "device": "raspberry-pi-zero-2-w\nraspberry-pi-4-2gb",
        "select": "F,M2",
        "strict": "true",
        "sarif-file": "log.sarif",
    }
    runner = Runner(folder=project, inputs=inputs)
    code, out = runner.run(STEPS["check"])
    assert code == 0, out
    assert "models/nothing here.tflite" in out
    assert runner.outputs()["exit-code"] == "1"
    log = json.loads((project / "log.sarif").read_text("utf-8"))
    assert len(log["runs"][0]["artifacts"]) == 3
    assert "fits" in runner.summary()


def test_the_bash_of_macos_knows_all_of_it() -> None:
    later = re.compile(r"globstar|mapfile|readarray|declare -A|\$\{\w+(,,|\^\^|@)|&>>|\|&|coproc")
    for step in ACTION["runs"]["steps"]:
        script = "\n".join(re.sub(r"^\s*#.*", "", line) for line in step.get("run", "").splitlines())
        assert not later.findall(script)


def test_patterns_go_into_folders(project: Path) -> None:
    (project / "models" / "deep er").mkdir()
    add("models/deep er/other one.tflite", "healthy")
    runner = Runner(folder=project, inputs={"files": "**/*.tflite"})
    code, out = runner.run(STEPS["check"])
    assert code == 0, out
    log = json.loads((project / "outlive.sarif").read_text("utf-8"))
    found = [item["location"]["uri"] for item in log["runs"][0]["artifacts"]]
    assert found == ["models/deep%20er/other%20one.tflite", "models/good.tflite"]


@pytest.mark.parametrize("event", [{"before": "0" * 40}, {"pull_request.base.sha": "HEAD~1"}])
def test_excluded_models_are_not_checked(project: Path, event: dict[str, str]) -> None:
    (project / "outlive.toml").write_text('exclude = ["broken/"]\n')
    (project / "models" / "broken").mkdir()
    add("models/broken/bad.tflite", "deadly")
    runner = Runner(folder=project, event=event)
    code, out = runner.run(STEPS["check"])
    assert (code, runner.outputs()["exit-code"]) == (0, "0"), out
    assert "bad" not in out


@pytest.mark.parametrize("name", ["log.sarif", "{}/log.sarif"])
def test_the_log_is_where_it_is_said_to_be(project: Path, tmp_path: Path, name: str) -> None:
    runner = Runner(folder=project, inputs={"files": "models/*.tflite", "sarif-file": name.format(tmp_path)})
    assert runner.run(STEPS["check"])[0] == 0
    where = (tmp_path if "{" in name else project) / "log.sarif"
    assert runner.outputs()["sarif-file"] == str(where)


def test_words_of_a_user_run_nothing(project: Path) -> None:
    evil = "$(touch broken)`touch broken`; touch broken"
    runner = Runner(folder=project, inputs={"files": evil, "select": evil, "ram": evil, "device": ""})
    code, _ = runner.run(STEPS["check"])
    assert code == 0
    assert runner.outputs()["exit-code"] == "2"
    assert not (project / "broken").exists()


def test_the_version_of_the_action_is_installed(project: Path, tmp_path: Path) -> None:
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "python").write_text('#!/bin/sh\necho "$@"\n')
    (fake / "python").chmod(0o755)
    path = os.pathsep.join((str(fake), os.environ["PATH"]))
    assert Runner(folder=project).run(STEPS["install"], PATH=path)[1].split()[-1] == str(ROOT)
    asked = Runner(folder=project, inputs={"install": "outlive==0.1.0"})
    assert asked.run(STEPS["install"], PATH=path)[1].split()[-1] == "outlive==0.1.0"
