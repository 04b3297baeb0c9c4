"""Real models that die, hang, are refused or run, diagnosed with real workers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.process.flight import OpSeen
from outlive.units import Step
from tests.deaths import models
from tests.deaths.restrictions import linux_only
from tests.deaths.scenes import DEADLY, HEALTHY, TOO_BIG
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor


def chain_with_fault() -> bytes:
    """Five operators; the fourth has a negative radius: room for no floats is made, and written to."""
    names = ("x", "a", "b", "c", "d", "y")
    tensors = [tensor(name, "FLOAT32", [1, 4, 4, 4]) for name in names]
    lrn = {"radius": -2, "bias": 1.0, "alpha": 1.0, "beta": 0.5}
    steps = (
        op(0, [0], [1]),
        op(1, [1], [2]),
        op(2, [2], [3]),
        op(3, [3], [4], "LocalResponseNormalization", **lrn),
        op(0, [4], [5]),
    )
    return model(["RELU", "NEG", "ABS", "LOCAL_RESPONSE_NORMALIZATION"], graph(tensors, [0], [5], *steps))


def test_a_deadly_model_is_taken_apart() -> None:
    heard: list[str] = []
    diagnosis = outlive.diagnose(DEADLY, tell=heard.append)
    assert diagnosis.died
    assert (diagnosis.stage, diagnosis.signal) == ("invoke", "SIGSEGV")
    assert diagnosis.op == OpSeen(type="LOCAL_RESPONSE_NORMALIZATION", index=3)
    assert diagnosis.needed == diagnosis.op
    assert "reference kernels" in diagnosis.works_with
    assert diagnosis.verdict is not None
    assert diagnosis.verdict.remedies[0].command == f"outlive run {DEADLY} --accelerator reference"
    assert heard[0] == "running it as it is"
    steps = [words for words in heard if isinstance(words, Step)]
    assert len(steps) == len(heard)
    assert all(step.steps.total is not None and step.steps < step.steps.total for step in steps)
    assert any(step.startswith("locating the operator: trying operators 0 to ") for step in steps)


def test_a_healthy_model_runs_whatever_is_tried() -> None:
    diagnosis = outlive.diagnose(HEALTHY)
    assert (diagnosis.died, diagnosis.refused, diagnosis.verdict, diagnosis.cause) == (False, False, None, "")
    assert set(diagnosis.works_with) == {"as it is", "perturbed heap", "inputs: zeros", "inputs: ones"}


def test_a_loop_without_end_is_named() -> None:
    outlive.run(HEALTHY)  # what makes workers is there, and takes none of the time
    diagnosis = outlive.diagnose(models.endless(), limits=outlive.Limits(seconds=4))
    assert diagnosis.died
    assert (diagnosis.cause, diagnosis.stage, diagnosis.signal) == ("infinite-loop", "invoke", None)
    assert diagnosis.op == OpSeen(type="WHILE", index=0)


def test_a_memory_limit_is_named_and_more_memory_helps() -> None:
    limits = outlive.Limits(memory="64MB")
    diagnosis = outlive.diagnose(TOO_BIG, limits=limits, accelerator="builtin")
    assert diagnosis.cause in ("out-of-memory", "unchecked-allocation")
    assert diagnosis.verdict is not None
    assert diagnosis.verdict.code == "D502"


def test_inputs_that_kill_are_told_from_inputs_that_do_not() -> None:
    least = np.array([models.LEAST], np.int64)
    deadly = {"a": least, "b": np.array([-1], np.int64)}
    diagnosis = outlive.diagnose(models.dividing(), deadly)
    assert (diagnosis.cause, diagnosis.signal) == ("int-min-divided-by-minus-one", "SIGFPE")
    assert "ones" in diagnosis.works_with


def test_a_call_that_is_refused_is_the_calls_fault() -> None:
    diagnosis = outlive.diagnose(HEALTHY, [np.zeros((3, 3), np.float32)])
    assert not diagnosis.died
    assert diagnosis.refused
    assert diagnosis.cause == "wrong-shape"


def test_a_file_that_ends_early_is_diagnosed_without_a_run() -> None:
    data = Path(HEALTHY).read_bytes()
    diagnosis = outlive.diagnose(data[: len(data) // 2])
    assert diagnosis.cause == "flatbuffer-corrupt"
    assert diagnosis.verdict is not None
    assert diagnosis.verdict.code.startswith("F")
    assert not diagnosis.trials


def test_a_file_that_is_not_there_is_not_run(tmp_path: Path) -> None:
    diagnosis = outlive.diagnose(tmp_path / "none.tflite")
    assert diagnosis.trials == ()
    assert diagnosis.verdict is not None
    assert diagnosis.verdict.code == "F101"


def test_a_flight_is_judged_without_a_model() -> None:
    diagnosis = outlive.diagnose(outlive.run(DEADLY))
    assert (diagnosis.died, diagnosis.signal) == (True, "SIGSEGV")
    assert diagnosis.op == OpSeen(type="LOCAL_RESPONSE_NORMALIZATION", index=3)


def test_nothing_is_left_behind() -> None:
    from outlive.process import factories

    outlive.diagnose(DEADLY)
    assert not [kind for kind in factories._factories if kind.environment]


@linux_only
def test_a_perturbed_heap_reaches_the_worker_and_only_it() -> None:
    from outlive.process import factories

    with outlive.Interpreter(HEALTHY, _environment={"MALLOC_PERTURB_": "165"}) as special:
        seen = Path(f"/proc/{special.pid}/environ").read_bytes()
    with outlive.Interpreter(HEALTHY) as usual:
        other = Path(f"/proc/{usual.pid}/environ").read_bytes()
    factories.close_special_factories()
    assert b"MALLOC_PERTURB_=165\0" in seen
    assert b"MALLOC_PERTURB_" not in other


@pytest.mark.parametrize("whole", [chain_with_fault(), Path(DEADLY).read_bytes()], ids=["chain", "demo"])
def test_the_smallest_model_dies_the_same_way_by_itself(tmp_path: Path, whole: bytes) -> None:
    small = tmp_path / "small.tflite"
    diagnosis = outlive.diagnose(whole, reduce=small)
    made = diagnosis.reproducer
    assert made is not None
    assert made.ops == (3,)
    assert made.bytes == small.stat().st_size < len(whole)
    assert outlive.run(small).signal == "SIGSEGV"
    ended = subprocess.run(
        [sys.executable, made.script], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == -11
    assert ended.stdout.endswith("stage invoke\n")


def test_a_fault_that_needs_the_values_before_it_is_reduced_with_them(tmp_path: Path) -> None:
    """-1 is computed on the way: alone and with usual inputs, the division is harmless."""
    tensors = [
        tensor("a", "INT64", [1]),
        tensor("ones", "INT64", [1], buffer=1),
        tensor("least", "INT64", [1], buffer=2),
        tensor("minus", "INT64", [1]),
        tensor("same", "INT64", [1]),
        tensor("rest", "INT64", [1]),
    ]
    steps = op(0, [0, 1], [3], "Sub"), op(1, [3, 3], [4]), op(2, [2, 4], [5])
    buffers = (np.array([1], np.int64), np.array([models.LEAST], np.int64))
    data = model(["SUB", "MAXIMUM", "FLOOR_MOD"], graph(tensors, [0], [5], *steps), buffers=buffers)
    diagnosis = outlive.diagnose(data, "zeros", reduce=tmp_path / "small.tflite")
    assert diagnosis.signal == "SIGFPE"
    made = diagnosis.reproducer
    assert made is not None
    assert made.ops == (2,)
    ended = subprocess.run(
        [sys.executable, made.script], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == -8


def test_a_model_that_runs_is_not_reduced(tmp_path: Path) -> None:
    assert outlive.diagnose(HEALTHY, reduce=tmp_path / "small.tflite").reproducer is None
    assert list(tmp_path.iterdir()) == []


def test_inputs_that_make_no_sense_may_be_refused() -> None:
    """A divisor of zero is one that we chose; that LiteRT says no to it does not make the model ill."""
    diagnosis = outlive.diagnose(models.dividing(), "ones")
    assert (diagnosis.died, diagnosis.refused) == (False, False)
