"""Inputs that `run` makes itself: no more memory than they need; and strings as they are meant."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import outlive
from outlive.interpreter.feeds import make_feeds
from tests.interpreter.dropin_models import text

MEGABYTES = 48


@pytest.mark.parametrize("dtype", ["float32", "int8", "int16", "int32", "bool"])
@pytest.mark.parametrize("scales", [[], [0.5]], ids=["plain", "quantized"])
def test_a_large_random_input_takes_little_more_than_itself(dtype: str, scales: list[float]) -> None:
    count = (MEGABYTES << 20) // np.dtype(dtype).itemsize
    parameters = {"scales": np.array(scales), "zero_points": np.zeros(len(scales), np.int32)}
    row = {"name": "x", "index": 0, "shape": [1, count], "dtype": np.dtype(dtype).type}
    tracemalloc.start()
    try:
        made = make_feeds([row | {"quantization_parameters": parameters}], "random")[0]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made.nbytes == MEGABYTES << 20
    assert len(np.unique(made[0, :1000])) > 1
    assert peak < made.nbytes + (24 << 20)


def test_a_string_alone_is_not_the_pointer_to_it() -> None:
    """LiteRT takes the pointer in an array of one object for its text, such as its own `get_tensor` gives."""
    with outlive.Interpreter(model_content=text()) as interpreter:
        interpreter.allocate_tensors()
        for given in ("grüße".encode(), "grüße"):
            interpreter.set_tensor(3, np.array(given, dtype=object))
            assert interpreter.get_tensor(3)[()] == "grüße".encode()
