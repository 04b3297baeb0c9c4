"""Whoever opens a worker hands in a judge; without one there are facts, and an error that carries them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.judge import Call, Judge
from outlive.interpreter.recorded_run import record_run
from outlive.process.flight import Flight, Unjudged
from outlive.verbs.judging import JUDGE
from tests.model.small import build, tensor

DEADLY, HEALTHY = (str(demo_models.path(name)) for name in ("deadly", "healthy"))


def test_a_death_that_nobody_judges_is_told_as_it_was_seen() -> None:
    with WorkerInterpreter(DEADLY) as interpreter:
        interpreter.allocate_tensors()
        with pytest.raises(Unjudged, match="no judge was given for this flight") as caught:
            interpreter.invoke()
        assert isinstance(caught.value.fact, Flight)
        assert caught.value.fact.died
        assert interpreter.flight is caught.value.fact
        with pytest.raises(Unjudged):
            interpreter.invoke()


def test_a_call_that_nobody_judges_is_refused_all_the_same() -> None:
    with WorkerInterpreter(HEALTHY) as interpreter:
        interpreter.allocate_tensors()
        row = interpreter.get_input_details()[0]
        with pytest.raises(Unjudged, match="no judge was given for this call") as caught:
            interpreter.set_tensor(row["index"], np.zeros((3, 3), np.float32))
        assert isinstance(caught.value.fact, Call)


def test_a_run_without_rules_is_a_record() -> None:
    flight = record_run(None, 1, 0, judge=Judge(), model_path=DEADLY)
    assert flight.died
    for record in (flight, Flight(died=True, stage="invoke")):
        with pytest.raises(Unjudged, match="no judge was given"):
            _ = record.findings


def test_a_record_takes_its_judge_along() -> None:
    flight = outlive.run(DEADLY)
    sent: Flight = pickle.loads(pickle.dumps(flight))
    assert [item.code for item in sent.findings] == [item.code for item in flight.findings] == ["O109"]
    assert type(sent.judge) is type(JUDGE)
    assert "judge" not in flight.to_json()
    assert "judge=" not in repr(flight)


def test_a_guarded_function_takes_its_judge_along() -> None:
    guarded = outlive.guard(abs, seconds=500)
    again = pickle.loads(pickle.dumps(guarded))
    assert type(again._terms.judge) is type(JUDGE)


@pytest.mark.parametrize("name", ["Interpreter", "InterpreterWithCustomOps"])
def test_what_a_program_opens_itself_has_the_judge(name: str) -> None:
    kind = getattr(outlive, name)
    assert issubclass(kind, outlive.Interpreter)
    assert kind._judge is JUDGE


def test_rules_are_not_loaded_before_there_is_something_to_judge() -> None:
    script = (
        "import sys, outlive\n"
        f"interpreter = outlive.Interpreter({HEALTHY!r})\n"
        "interpreter.allocate_tensors()\n"
        "interpreter.close()\n"
        "outlive.guard(abs)(-1)\n"
        "print(sorted(name for name in sys.modules if name.startswith(('outlive.rules', 'outlive.rend'))))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_sentences_of_litert_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Could not open") as opened:
        outlive.Interpreter(str(tmp_path / "gone.tflite"))
    assert str(opened.value).splitlines()[:2] == [
        f"Could not open '{tmp_path}/gone.tflite'.",
        "The model allocation is null/empty",
    ]
    path = tmp_path / "add.tflite"
    add = {"opcode_index": 0, "inputs": [0], "outputs": [1], "builtin_options_type": "AddOptions"}
    path.write_bytes(build([tensor("a"), tensor("b")], operators=[add], codes=[{"builtin_code": "ADD"}]))
    with outlive.Interpreter(str(path)) as interpreter, pytest.raises(RuntimeError) as refused:
        interpreter.allocate_tensors()
    assert "Node number 0 (ADD) failed to prepare." in str(refused.value).splitlines()
