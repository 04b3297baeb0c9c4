"""Whoever opens a worker hands in a judge; without one there are facts, and an error that carries them."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.judge import Call, Judge
from outlive.interpreter.recorded_run import record_run
from outlive.process.flight import Flight, Unjudged
from outlive.verbs.judging import JUDGE

DEADLY, HEALTHY = (str(demo_models.path(name)) for name in ("deadly", "healthy"))


def test_a_death_that_nobody_judges_is_told_as_it_was_seen() -> None:
    with WorkerInterpreter(DEADLY) as interpreter:
        interpreter.allocate_tensors()
        with pytest.raises(Unjudged, match="what this flight means") as caught:
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
        with pytest.raises(Unjudged, match="what this call means") as caught:
            interpreter.set_tensor(row["index"], np.zeros((3, 3), np.float32))
        assert isinstance(caught.value.fact, Call)


def test_a_run_without_rules_is_a_record() -> None:
    flight = record_run(None, 1, 0, judge=Judge(), model_path=DEADLY)
    assert flight.died
    for record in (flight, Flight(died=True, stage="invoke")):
        with pytest.raises(Unjudged, match="nobody was handed in"):
            _ = record.findings


def test_a_record_takes_its_judge_along() -> None:
    flight = outlive.run(DEADLY)
    sent: Flight = pickle.loads(pickle.dumps(flight))
    assert [item.code for item in sent.findings] == [item.code for item in flight.findings] == ["D504"]
    assert type(sent.judge) is type(JUDGE)
    assert "judge" not in flight.to_json()
    assert "judge=" not in repr(flight)


def test_a_guarded_function_takes_its_judge_along() -> None:
    guarded = outlive.guard(abs, seconds=5)
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
