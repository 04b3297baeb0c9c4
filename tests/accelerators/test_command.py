"""`outlive delegates` as a user runs it, and `run --accelerator`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import outlive as outlive_package
from outlive.verbs.delegates import judge_coverage, parse_delegates
from tests.accelerators.here import needs_gpu
from tests.accelerators.small_library import build, needs_compiler
from tests.accelerators.small_models import line
from tests.cli.processes import environment, run

FIELDS = {"name", "available", "ops_taken", "ops_total", "partitions", "refused", "compiles", "runs",
          "max_abs_difference", "milliseconds", "peak_bytes"}  # fmt: skip


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "m.tflite"
    path.write_bytes(line("ADD", "ATAN2", "MUL"))
    return str(path)


def outlive(*words: str) -> Any:
    return run("delegates", *words, "--no-cache", env=environment())


def test_the_document_has_the_fields_of_the_contract(model: str) -> None:
    done = outlive(model, "--only", "xnnpack", "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["schema"], told["kind"]) == ("outlive/1", "delegates")
    rows = {row["name"]: row for row in told["accelerators"]}
    assert list(rows) == ["reference", "builtin", "xnnpack"]
    assert set(rows["xnnpack"]) >= FIELDS
    assert (rows["xnnpack"]["ops_taken"], rows["xnnpack"]["partitions"]) == (2, 2)
    assert [(item["op"], item["type"]) for item in rows["xnnpack"]["refused"]] == [(1, "ATAN2")]
    assert [finding["code"] for finding in told["findings"] if finding["severity"] == "error"] == []


def test_the_table_names_what_is_left_to_the_cpu(model: str) -> None:
    done = outlive(model, "--only", "xnnpack")
    assert done.returncode == 0, done.stderr
    cells = [line.split() for line in done.stdout.splitlines()]
    assert ["xnnpack", "runs", "2", "3", "2"] in [row[:5] for row in cells]
    assert ["xnnpack", "ATAN2", "1"] in [row[:3] for row in cells]


@needs_compiler
def test_a_library_that_dies_ends_with_one_and_can_be_reduced(model: str, tmp_path: Path) -> None:
    small = tmp_path / "small.tflite"
    done = outlive(
        model,
        "--only",
        "library",
        "--delegate",
        build(),
        "--delegate-option",
        "mood=dies",
        "--reduce",
        str(small),
    )
    assert done.returncode == 1, done.stderr
    assert "error[A801]" in done.stdout
    assert "SIGSEGV at invoke" in done.stdout
    assert "operator 0 ADD" in done.stdout
    assert 0 < small.stat().st_size < Path(model).stat().st_size


def test_a_library_that_is_not_there_ends_with_one(model: str) -> None:
    done = outlive(model, "--only", "library", "--delegate", "/nowhere/libnone.so")
    assert done.returncode == 1
    assert "error[A806]" in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--only", "warp"], "unknown accelerator 'warp'"),
        (["--delegate-option", "a=b"], "is for a delegate"),
        (["--delegate", "x.so", "--delegate-option", "a"], "is no KEY=VALUE"),
        (["--threads", "0"], "threads must be at least 1"),
        (["--seconds", "-1"], "deadline"),
    ],
)
def test_wrong_words_are_usage_errors(model: str, words: list[str], complaint: str) -> None:
    done = outlive(model, *words)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_options_that_contradict_each_other() -> None:
    with pytest.raises(ValueError, match="given as '1' and as '2'"):
        parse_delegates(["x.so"], ["device=1", "device=2"])
    (delegate,) = parse_delegates(["x.so"], ["device=1", "device=1", "path=a=b"])
    assert delegate.options == {"device": "1", "path": "a=b"}


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a model")
    done = outlive(str(text))
    assert done.returncode == 1
    assert "error[F1" in done.stderr


def test_the_model_is_not_overwritten(model: str) -> None:
    done = outlive(model, "--reduce", model)
    assert done.returncode == 2
    assert "would overwrite the model itself" in done.stderr


def test_run_auto_says_what_was_left_out(model: str) -> None:
    done = run("run", model, "--accelerator", "auto", env=environment())
    assert done.returncode == 0, done.stderr
    assert "runs" in done.stdout
    assert "AcceleratorWarning" not in done.stderr


@needs_gpu
def test_run_on_the_gpu(model: str) -> None:
    done = run("run", model, "--accelerator", "gpu", "--format", "json", env=environment())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runtime"]["accelerator"] == "gpu"


def test_python_has_the_command_under_its_name_with_its_findings() -> None:
    coverage = outlive_package.delegates(line("ADD"), only="builtin, xnnpack", cache=False)
    assert [one.name for one in coverage.accelerators][-2:] == ["builtin", "xnnpack"]
    assert outlive_package.probe is outlive_package.delegates
    assert coverage.findings == judge_coverage(coverage)
    assert len(repr(coverage)) < 400
