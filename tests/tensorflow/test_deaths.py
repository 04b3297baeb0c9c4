"""TensorFlow ends its process in many ways; each ends here in an error that says which, and where."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

import outlive
from outlive.platforms.posix.child.own_process import is_at_work
from tests.deaths.moments import Clock

# TensorFlow warns of its own parts, and a worker has the filters of its caller.
pytestmark = pytest.mark.filterwarnings("default")


def rank() -> None:
    import tensorflow as tf

    scalar, filters = tf.constant(1.5, tf.float64), tf.zeros([1, 1, 0, 1, 0], tf.float64)
    paddings = tf.constant(2, shape=[4, 2])
    tf.raw_ops.FusedPadConv2D(
        input=scalar, paddings=paddings, filter=filters, mode="REFLECT", strides=[1] * 4, padding="VALID"
    )


def index() -> None:
    import tensorflow as tf

    argmax = tf.constant(10**9, tf.int64, shape=[1, 2, 2, 1])
    tf.raw_ops.MaxPoolGradWithArgmax(
        input=tf.ones([1, 4, 4, 1]),
        grad=tf.ones([1, 2, 2, 1]),
        argmax=argmax,
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
    )


def division() -> None:
    import numpy as np
    import tensorflow as tf

    spec = tf.TensorSpec([2], tf.int32)
    traced = tf.function(lambda x, y: tf.raw_ops.Div(x=x, y=y)).get_concrete_function(spec, spec)
    model = tf.lite.TFLiteConverter.from_concrete_functions([traced]).convert()
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for row, value in zip(interpreter.get_input_details(), (-(2**31), -1), strict=True):
        interpreter.set_tensor(row["index"], np.array([value] * 2, np.int32))
    interpreter.invoke()


@pytest.mark.parametrize(
    ("function", "code", "cause", "where"),
    [
        (rank, "D513", "tf-check-failed", "FusedPadConv2D"),
        (index, "D513", "tf-out-of-bounds", "MaxPoolGradWithArgmax"),
        (division, "D506", "int-min-divided-by-minus-one", "DIV"),
    ],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_a_death_is_named(function: Callable[[], Any], code: str, cause: str, where: str) -> None:
    with pytest.raises(outlive.ModelDied) as caught:
        outlive.guard(function, seconds=120)()
    finding = caught.value.finding
    assert (finding.code, finding.cause) == (code, cause)
    assert where in finding.where
    if cause != "int-min-divided-by-minus-one":
        assert "test_deaths.py" in finding.where  # the line of the user's own code


def waits(about_to_hang: str) -> None:
    import tensorflow as tf

    queue = tf.queue.FIFOQueue(3, tf.float32)
    Path(about_to_hang).touch()
    queue.dequeue()


def forks(about_to_hang: str) -> None:
    import tensorflow as tf

    small = tf.random.normal([500, 500])
    tf.matmul(small, small)
    Path(about_to_hang).touch()
    child = os.fork()
    if child == 0:
        large = tf.random.normal([1500, 1500])
        tf.matmul(large, large)
        os._exit(0)
    os.waitpid(child, 0)


@pytest.mark.parametrize(
    ("function", "code", "cause"), [(waits, "D503", "hang"), (forks, "D512", "fork-after-threads")]
)
def test_a_hang_is_named_and_nothing_of_it_stays(
    function: Callable[[str], Any], code: str, cause: str, tmp_path: Path, clock: Clock
) -> None:
    sign = tmp_path / "about_to_hang"
    worker = outlive.guard(_load, seconds=500)()  # so that the deadline is not about importing
    clock.advance_when(lambda: sign.exists() and _rests(worker))
    with pytest.raises(outlive.LimitReached) as caught:
        outlive.guard(function, seconds=500)(str(sign))
    limit = caught.value
    assert (limit.finding.code, limit.finding.cause) == (code, cause)
    assert limit.flight is not None
    assert f"in {function.__name__}" in limit.flight.fault_trace
    _wait_for_no_copies(limit.flight.pid)


def _rests(pid: int) -> bool:
    """True if neither the process nor a child of it wants a core, however often one looks."""
    family = [pid, *(child.pid for child in psutil.Process(pid).children())]
    for _ in range(20):
        if any(map(is_at_work, family)):
            return False
        time.sleep(0.02)
    return True


def _load() -> int:
    import tensorflow as tf

    tf.zeros([1])
    return os.getpid()


def _wait_for_no_copies(pid: int | None) -> None:
    """No process is left whose parent was the worker; what is killed takes a moment to go."""
    for _ in range(3000):
        left = [one.pid for one in psutil.process_iter(["ppid"]) if pid in (one.pid, one.info["ppid"])]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(f"left behind: {left}")
