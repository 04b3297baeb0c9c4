"""`report`, `export`, `snippet` and `check` in Python: what the commands do, as results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.cli.main import main
from outlive.rendering.media.json import document_of

HEALTHY, DEADLY, SMALL = (str(demo_models.path(name)) for name in ("healthy", "deadly", "healthy_int8"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a model in it, and one below."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    shutil.copy(HEALTHY, tmp_path / "large.tflite")
    shutil.copy(DEADLY, tmp_path / "deep" / "deadly.tflite")
    return tmp_path


def test_a_report_of_a_model_that_dies(tmp_path: Path) -> None:
    made = outlive.report(DEADLY)
    assert (made.kind, made.outcome) == ("report", "died")
    assert made.diagnosis is not None
    assert made.diagnosis.verdict is not None
    made.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert document_of(made)["diagnose"]["verdict"]["code"] == "O109"  # type: ignore[index]


def test_a_report_of_bytes_that_is_not_run() -> None:
    made = outlive.report(Path(HEALTHY).read_bytes(), run=False)
    assert (made.outcome, made.flight, made.path) == ("clean", None, "")
    assert made.plan is not None


def test_what_a_report_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="samples need a model to compare with"):
        outlive.report(HEALTHY, samples="x.npz")
    with pytest.raises(ValueError, match="leave --no-run out"):
        outlive.report(HEALTHY, run=False, delegates=True)


def test_an_export_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    made = outlive.export(SMALL, tflm=True)
    assert made.path is None
    assert "main.cc" in dict(made.files)  # type: ignore[call-overload]
    outlive.export(SMALL, tmp_path / "firmware", tflm=True)
    assert (tmp_path / "firmware" / "main.cc").exists()
    refused = outlive.export(HEALTHY, tflm=True, device="arduino-uno-r4-minima")
    assert (refused.files, refused.kind) == ((), "export")
    assert refused.findings
    assert outlive.export(SMALL).files == made.files


def test_a_snippet_is_its_code() -> None:
    made = outlive.snippet(HEALTHY, lang="c++")
    assert str(made) == made.text
    assert made.file_name == "run_healthy.cc"


def test_a_folder_is_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = outlive.check(folder)
    assert [Path(file.reading.path or "").name for file in found.files] == ["large.tflite", "deadly.tflite"]
    assert found.outcome == "errors"
    assert main(["check", ".", "--format", "json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["files"]) == 2
    assert main(["check", "deep/*.tflite"]) == 1


def test_what_the_project_excludes_is_left_out_of_folders(folder: Path) -> None:
    (folder / "outlive.toml").write_text('exclude = "deep/"\nignore = ["M107"]\n')
    assert len(outlive.check(folder).files) == 1
    assert outlive.check("deep/deadly.tflite").errors  # named itself
    assert not outlive.check("deep/deadly.tflite", force_exclude=True).files
    assert not outlive.check("large.tflite")
    assert [finding.code for finding in outlive.check("large.tflite", config=False)] == ["M107"]


def test_a_folder_without_models_is_called_that(folder: Path) -> None:
    (folder / "empty").mkdir()
    assert [finding.code for finding in outlive.check(folder / "empty")] == ["F103"]


def test_several_devices_in_one_check() -> None:
    found = outlive.check(HEALTHY, device=["pixel-8", "arduino-uno-r4-minima"], config=False)
    assert found.verdict is not None
    assert found.verdict.budget.title.startswith("Arduino UNO R4")


def test_tables_of_a_scan_are_written_in_python_too(folder: Path) -> None:
    scan = outlive.scan(folder, output=["t.csv", "t.html"], cache=False, jobs=1)
    assert scan.written == ("t.csv", "t.html")
    assert len(list(scan)) == 2  # its rows are kept aside
    assert not list(folder.glob("*.partial.jsonl"))
    assert scan.outcome == "errors"
