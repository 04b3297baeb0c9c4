"""Failures without a word, as a user meets them: --expect, --watch-outputs, --delegate, doctor."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.cli.main import main
from outlive.interpreter.recorded_run import can_watch
from outlive.surgery import write
from tests.interpreter.test_untouched import detector
from tests.process.test_delegation import IDLE
from tests.rules.places import machine

Capture = pytest.CaptureFixture[str]
HEALTHY, INT8 = (str(demo_models.path(name)) for name in ("healthy", "healthy_int8"))


def document(capsys: Capture, *words: str, code: int = 0) -> dict[str, Any]:
    """What a command prints as JSON."""
    assert main([*words, "--format", "json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def codes(found: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in found["findings"]]


@pytest.mark.parametrize(
    ("model", "word", "code"),
    [(HEALTHY, "int8", 1), (INT8, "int8", 0), (INT8, "int8-io", 0), (INT8, "uint8-io", 1), (INT8, "int16", 1),
     (HEALTHY, "dynamic", 1), (INT8, "float16", 0)],
)  # fmt: skip
def test_a_model_is_held_against_what_was_asked_for(
    model: str, word: str, code: int, capsys: Capture
) -> None:
    found = document(capsys, "check", model, "--no-config", "--expect", word, "--select", "Q", code=code)
    assert codes(found) == ["Q201"] * code


def test_what_is_expected_has_a_name() -> None:
    with pytest.raises(ValueError, match="did you mean int8"):
        outlive.check(HEALTHY, expect="int-8")
    assert main(["check", HEALTHY, "--expect", "int12"]) == 2


def test_nothing_is_expected_unless_said(capsys: Capture) -> None:
    found = document(capsys, "check", HEALTHY, "--no-config")
    assert {"code": "Q201", "name": "not-as-expected", "reason": "needs expectation"} in found["not_checked"]
    assert main(["check", HEALTHY, "--no-config", "-v"]) == 0
    assert "--expect" in capsys.readouterr().out


def test_this_machine_is_looked_at_where_that_is_asked_for(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = machine(packages={"tflite_runtime": "1.4.0", "numpy": "1.26.4"})
    monkeypatch.setattr("outlive.verbs.checking.look_around", lambda: old)
    words = ("check", HEALTHY, "--no-config", "--select", "E")
    assert codes(document(capsys, *words, "--here", code=1)) == ["E421"]
    assert codes(document(capsys, *words)) == []


@pytest.mark.skipif(not can_watch(), reason="memory can be filled beforehand with glibc only")
def test_outputs_that_were_never_written_are_told(tmp_path: Path, capsys: Capture) -> None:
    model = tmp_path / "detector.tflite"
    model.write_bytes(write(detector()))
    found = document(capsys, "run", str(model), "--input", "zeros", "--watch-outputs")
    assert codes(found) == ["S701", "S703"]
    assert [row["untouched_bytes"] for row in found["outputs"]] == [48, 12, 12, 0]
    # Without filling it beforehand, that memory may hold anything.
    assert set(codes(document(capsys, "run", str(model), "--input", "zeros"))) <= {"S703", "S708"}


def test_the_same_is_found_at_every_entry_point(tmp_path: Path, capsys: Capture) -> None:
    from outlive.rendering import page_of
    from outlive.rendering.media.notebook import card_html
    from tests.interpreter.test_inner_tensors import broken

    model = tmp_path / "broken.tflite"
    model.write_bytes(broken())
    page = tmp_path / "page.html"
    assert main(["report", str(model), "-o", str(page)]) == 0
    capsys.readouterr()
    flight = outlive.run(model)
    found = {
        "run": codes(document(capsys, "run", str(model))),
        "checkup": codes(document(capsys, str(model))["run"]),
        "report": codes(document(capsys, "report", str(model))),
        "diagnose": codes(document(capsys, "diagnose", str(model))),
        "scan": [row.code for row in next(iter(outlive.scan([model], run=True))).findings],
        "python": [finding.code for finding in flight.findings],
    }
    assert [name for name, seen in found.items() if seen.count("S706") != 1] == []
    assert "S706" in page.read_text()
    assert "S706" in card_html(page_of(flight))


@pytest.mark.skipif(shutil.which("cc") is None, reason="a delegate for this test is made with a C compiler")
def test_a_delegate_that_fell_back_is_told(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "idle.c").write_text(IDLE)
    library = str(tmp_path / "libidle.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "idle.c"], check=True)
    found = document(capsys, "run", HEALTHY, "--delegate", f"{library},speed=high")
    assert codes(found) == ["S702"]
    assert found["delegation"] | {"left": []} == {
        "asked": [library], "operators": 16, "taken": 0, "parts": 0, "left": [],
    }  # fmt: skip
    assert codes(document(capsys, "run", HEALTHY)) == []


@pytest.mark.parametrize("word", ["libidle.so,fast", ",speed=high"])
def test_a_delegate_is_a_library_with_options(word: str, capsys: Capture) -> None:
    assert main(["run", HEALTHY, "--delegate", word]) == 2
    assert "is not a delegate" in capsys.readouterr().err


def test_the_doctor_tells_what_is_wrong_with_the_machine(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tight = machine(limits={"NOFILE": 64})
    monkeypatch.setattr("outlive.environment.capabilities.survey", lambda: ())
    monkeypatch.setattr("outlive.environment.surroundings.look_around", lambda: tight)
    assert codes(document(capsys, "doctor")) == ["E414"]
    assert main(["doctor"]) == 0
    assert "Low limit on open files" in capsys.readouterr().out


def test_values_of_a_watched_run_are_saved_as_they_are(tmp_path: Path, capsys: Capture) -> None:
    saved = str(tmp_path / "out.npz")
    assert main(["run", HEALTHY, "--watch-outputs", "--save", saved]) == 0
    with np.load(saved) as values:
        assert values["probabilities"].shape == (1, 10)
