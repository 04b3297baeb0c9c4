"""Guarded functions that use TensorFlow: loaded in the worker alone, once, and its errors in words."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.guarding.functions import mentions_tensorflow
from outlive.guarding.worker_errors import CannotReturn, GuardedError
from tests.deaths.restrictions import linux_only

pytestmark = [
    linux_only,
    pytest.mark.skipif(
        importlib.util.find_spec("tensorflow") is None,
        reason="needs TensorFlow in this environment: pip install tensorflow-cpu",
    ),
]


def multiply(rows: int, columns: int) -> Any:
    """A product of two matrices, which fit if they are square."""
    import tensorflow as tf

    return {"product": tf.matmul(tf.ones((rows, columns)), tf.ones((rows, columns))), "pid": os.getpid()}


def test_tensors_come_back_as_arrays_and_the_caller_loads_nothing() -> None:
    guarded = outlive.guard(multiply)
    first, second = guarded(3, 3), guarded(3, 3)
    assert isinstance(first["product"], np.ndarray)
    assert first["product"].tolist() == [[3.0] * 3] * 3
    assert first["pid"] == second["pid"]
    assert not any(name.partition(".")[0] in ("tensorflow", "keras") for name in sys.modules)


def test_shapes_that_do_not_fit_raise_in_words() -> None:
    with pytest.raises(GuardedError, match="Matrix size-incompatible") as caught:
        outlive.guard(multiply)(2, 3)
    assert type(caught.value).__name__ == "InvalidArgumentError"
    assert "tf.matmul" in str(caught.value.__cause__)


def test_memory_that_is_not_allowed() -> None:
    def keep_all() -> int:
        import tensorflow as tf

        kept = []
        while len(kept) < 4000:
            kept.append(tf.ones((1000, 1000)) + len(kept))
        return len(kept)

    outlive.guard(multiply)(1, 1)  # loaded before, so that the limit is for the function alone
    with pytest.raises((GuardedError, outlive.LimitReached, outlive.ModelDied)) as caught:
        outlive.guard(keep_all, memory="300MB")()
    said = "".join(getattr(caught.value, "__notes__", ())) + str(caught.value) + str(caught.value.__cause__)
    assert "error[D502]: Memory limit exceeded: the limit is 300 MB" in said


def test_a_model_stays_where_its_library_is() -> None:
    def build() -> Any:
        import tensorflow as tf

        return tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])

    with pytest.raises(CannotReturn, match=r"return arrays|cannot come back"):
        outlive.guard(build)()


def test_who_needs_tensorflow_is_seen_without_loading_it() -> None:
    def indirect() -> Any:
        return multiply(1, 1)

    assert mentions_tensorflow(multiply)
    assert mentions_tensorflow(indirect)
    assert not mentions_tensorflow(os.getpid)
    assert not mentions_tensorflow(lambda: np.ones(3))
    nested = eval("lambda: __import__('os') or tensorflow.ones(3)")
    assert mentions_tensorflow(nested)
