"""`outlive MODEL`: read, plan, check, run, and diagnose if needed, on one screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from outlive import demo_models
from outlive.cli.commands.checkup import is_checkup
from outlive.cli.main import main


def path(name: str) -> str:
    return str(demo_models.path(name))


def test_a_healthy_model_is_read_planned_checked_and_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path("healthy")]) == 0
    shown = capsys.readouterr().out
    for words in (
        "16 operators, 1 subgraph",
        "inputs: image",
        "Needs about",
        "Findings  1 note",
        "runs",
        "invoke took",
    ):
        assert words in shown
    assert "Trials, each" not in shown
    assert len(shown.splitlines()) < 40


def test_a_deadly_model_is_diagnosed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path("deadly")]) == 3
    shown = capsys.readouterr().out
    assert "crashes: SIGSEGV in invoke" in shown
    assert "Works with reference kernels" in shown


def test_the_document_holds_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path("deadly"), "--format", "json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"]) == ("outlive/1", "checkup")
    parts = {name: (document[name] or {}).get("kind") for name in ("read", "run", "diagnose")}
    assert parts == {"read": "read", "run": "run", "diagnose": "diagnose"}


def test_a_file_that_is_no_model_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.tflite").write_text("<html><title>Not found</title></html>")
    assert main([str(tmp_path / "m.tflite")]) == 1
    assert "error[F105]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["m.tflite"], True),
        (["m.tflite", "--format", "json", "--output=x"], True),
        (["m.tflite", "n.tflite"], False),
        (["m.tflite", "--ops"], False),
    ],
)
def test_what_only_read_knows_is_left_to_it(words: list[str], wanted: bool) -> None:
    assert is_checkup(words) is wanted
