"""Models for the tests of accelerators: what XNNPACK and the GPU take whole, in parts, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import Tree, tensor

SHAPE = [1, 4, 4, 2]


def line(*codes: str, shape: list[int] | None = None) -> bytes:
    """Operators one behind the other, each on what the one before made: ADD and MUL with itself."""
    shape = shape or SHAPE
    tensors = [tensor(f"t{index}", "FLOAT32", shape) for index in range(len(codes) + 1)]
    kinds = sorted(set(codes))
    steps = [_step(code, kinds.index(code), index) for index, code in enumerate(codes)]
    return model(kinds, graph(tensors, [0], [len(codes)], *steps))


def _step(code: str, kind: int, index: int) -> Tree:
    inputs = [index, index] if code in ("ADD", "MUL", "SUB", "ATAN2") else [index]
    options = {"ADD": "Add", "MUL": "Mul", "SUB": "Sub"}.get(code, "")
    return op(kind, inputs, [index + 1], options)


def five_axes() -> bytes:
    """A reshape to rank 5, which the GPU does not take, between two operators that it does."""
    tensors = [
        tensor("x", "FLOAT32", SHAPE),
        tensor("doubled", "FLOAT32", SHAPE),
        tensor("shape", "INT32", [5], buffer=1),
        tensor("five", "FLOAT32", [1, 4, 4, 2, 1]),
        tensor("back", "INT32", [4], buffer=2),
        tensor("four", "FLOAT32", SHAPE),
        tensor("y", "FLOAT32", SHAPE),
    ]
    steps = (
        op(0, [0, 0], [1], "Add"),
        op(1, [1, 2], [3], "Reshape", new_shape=[1, 4, 4, 2, 1]),
        op(1, [3, 4], [5], "Reshape", new_shape=SHAPE),
        op(0, [5, 5], [6], "Add"),
    )
    constants: tuple[Any, ...] = (np.array([1, 4, 4, 2, 1], np.int32), np.array(SHAPE, np.int32))
    return model(["ADD", "RESHAPE"], graph(tensors, [0], [6], *steps), buffers=constants)


def dead_end() -> bytes:
    """Two operators that nothing depends on, behind one that makes the output."""
    tensors = [tensor(name, "FLOAT32", SHAPE) for name in ("x", "y", "unread", "unread_too")]
    steps = op(0, [0, 0], [1], "Add"), op(1, [1], [2]), op(1, [2], [3])
    return model(["ADD", "ABS"], graph(tensors, [0], [1], *steps))


def random_numbers() -> bytes:
    """A model whose output is another at each run."""
    tensors = [tensor("shape", "INT32", [2]), tensor("y", "FLOAT32", [2, 2])]
    return model(["RANDOM_UNIFORM"], graph(tensors, [0], [1], op(0, [0], [1], "Random", seed=0, seed2=0)))
