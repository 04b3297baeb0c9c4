"""Formats for other tools, from the command line: written where asked, refused where they make no sense."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from outlive import demo_models
from outlive.cli.main import main
from tests.rendering.trace_shape import complaints

HEALTHY, DEADLY, TOO_BIG = (str(demo_models.path(name)) for name in ("healthy", "deadly", "too_big"))


def test_a_run_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "run.json"
    assert main(["run", HEALTHY, "--format", "trace", "--output", str(output)]) == 0
    assert complaints(json.loads(output.read_text("utf-8"))) == []
    assert capsys.readouterr() == ("", "")


def test_a_death_is_exported_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "run.csv"
    assert main(["run", DEADLY, "--format", "csv", "--output", str(output)]) == 3
    assert len(list(csv.reader(output.read_text("utf-8").splitlines()))) > 3
    assert "error[O109]" in capsys.readouterr().err


def test_a_run_that_is_not_started_writes_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run.csv"
    words = ["--accelerator", "builtin", "--memory", "100MB", "--format", "csv", "--output", str(output)]
    assert main(["run", TOO_BIG, *words]) == 4
    assert not output.exists()
    assert "error[M205]" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "trace", "overlay"])
def test_a_plan_that_does_not_fit_says_so(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--accelerator", "builtin", "--ram", "64MB", "--format", form]
    assert main(["plan", TOO_BIG, *words]) == 4
    told = capsys.readouterr()
    assert "error[M201]" in told.err
    if form == "csv":
        assert told.out.startswith("region,tensor,name,")
    else:
        assert json.loads(told.out)


def test_a_sweep_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--accelerator", "builtin", "--sweep", "batch=1,2", "--ram", "64MB", "--format", "csv"]
    assert main(["plan", HEALTHY, *words]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [(row["batch"], row["verdict"]) for row in rows] == [("1", "fits"), ("2", "fits")]
    assert int(rows[0]["arena_bytes"]) < int(rows[1]["arena_bytes"])


def test_who_takes_what_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--only", "builtin,xnnpack", "--no-cache", "--format", "csv"]
    assert main(["delegates", HEALTHY, *words]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert "taken" in {row["xnnpack"] for row in rows}
    assert [int(row["op"]) for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan", HEALTHY, "--sweep", "batch=1,2", "--format", "trace"], "ask for --format csv"),
        (["plan", HEALTHY, "--compare", "cpu", "--format", "overlay"], "ask for --format csv"),
        (["run", HEALTHY, "--format", "overlay"], "unknown value 'overlay'"),
        (["delegates", HEALTHY, "--format", "trace"], "unknown value 'trace'"),
        (["plan", HEALTHY, "--format", "csv", "--output", "/nowhere/at/all.csv"], "cannot write"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_no_model_has_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.tflite"
    page.write_text("<html></html>", "utf-8")
    output = tmp_path / "plan.csv"
    assert main(["plan", str(page), "--format", "csv", "--output", str(output)]) == 1
    assert not output.exists()
    assert "error[F1" in capsys.readouterr().err
