"""`outlive leak`, as a user types it: text, JSON, pictures, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from outlive import demo_models
from outlive.cli.main import main

SCRIPT = Path(__file__).with_name("leakers.py")


def target(name: str) -> str:
    return f"{SCRIPT}::{name}"


def test_a_leak_has_exit_code_1_and_names_what_grew(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plot = tmp_path / "growth.svg"
    assert main(["leak", target("python_10_kb"), "--repeat", "60", "--ram", "1GB", "--plot", str(plot)]) == 1
    text = capsys.readouterr().out
    assert re.search(r"pile up: \d+\.\d+ KiB more per round", text)
    assert "error[G602]: Python objects pile up" in text
    assert "954 MiB (as asked for) reached after" in text
    assert "does not grow" in text
    drawn = plot.read_text()
    assert drawn.startswith("<svg ")
    assert drawn.count("<line ") > 100
    assert "60 rounds" in drawn


def test_json_has_the_fields_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leak", target("nothing"), "--repeat", "60", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["kind"], found["verdict"]) == ("outlive/1", "leak", "no leak")
    assert found["low"] <= found["bytes_per_iteration"] <= found["high"]
    (stage,) = found["stages"]
    assert (stage["cycle"], stage["calls"], len(stage["rounds"])) == ("call", 60, 61)
    assert {row["name"] for row in stage["quantities"]} == {
        "held_bytes", "heap_bytes", "mapped_bytes", "objects", "descriptors", "threads",
    }  # fmt: skip


def test_what_grew_is_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leak", target("python_10_kb"), "--repeat", "60", "--format", "json"]) == 1
    (stage,) = json.loads(capsys.readouterr().out)["stages"]
    assert stage["grew"]["objects"][0]["type"] == "bytearray"
    assert stage["grew"]["objects"][0]["kept_by"] == ["global variable kept of leakers"]
    assert stage["ends"][0]["what"] == "held_bytes"


def test_a_cycle_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leak", str(demo_models.path("healthy")), "--cycle", "invoke", "--repeat", "40"]) == 0
    assert "no leak above" in capsys.readouterr().out


def test_a_death_has_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leak", target("dies"), "--format", "json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["died"]
    assert found["stages"][0]["calls"] == 39
    assert found["stages"][0]["flight"]["signal"] == "SIGSEGV"


def test_a_function_that_raises_at_once_shows_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leak", target("raises_at_once")]) == 1
    said = capsys.readouterr().err
    assert 'raise KeyError("first")' in said
    assert "in its first round" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.py::f"], "file not found: none.py"),
        ([str(SCRIPT)], "name the function"),
        ([target("missing")], "has no function missing"),
        ([target("nothing"), "--ram", "many"], "'many' is not a size"),
        ([target("nothing"), "--plot", "growth.gif"], "writes .svg or .png"),
        ([target("nothing"), "--repeat", "0"], "0 times"),
        (["none.tflite"], "No such file"),
    ],
)
def test_usage_is_exit_code_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leak", *words]) == 2
    assert said in capsys.readouterr().err


def test_the_script_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leak", target("nothing"), "--output", str(SCRIPT)]) == 2
    assert "overwrite" in capsys.readouterr().err
    assert "def nothing" in SCRIPT.read_text()
