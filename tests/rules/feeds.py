"""Models with the values they are given: facts for the rules on inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from outlive.model import TensorCard, read_source
from outlive.planning.planner import make_feed
from outlive.rules.feed import Feed
from outlive.surgery import write
from tests.rules.small import Tree, graph, operator, tensor, tree

Array = np.ndarray[Any, Any]


def feed(model: Tree, **values: Array) -> Feed:
    """The model of a tree, with values by input."""
    read = read_source(write(model)).model
    assert read is not None
    return make_feed(read, values)


def with_card(given: Feed, mean: float, std: float) -> Feed:
    """The same, with metadata that say how the input is normalised."""
    card = TensorCard(
        name="image", description="", content="", dimension_names=(), mean=(mean,), std=(std,),
        minimum=(), maximum=(), files=(),
    )  # fmt: skip
    return replace(given, given=tuple(replace(item, card=card) for item in given.given))


def small(
    kind: str = "INT8", scale: float = 1 / 128, zero: int = 0, shape: Sequence[int] = (1, 4, 4, 3)
) -> Tree:
    """One operator on a quantized image; from -1 to nearly 1, if nothing else is said."""
    fields: Mapping[str, Any] = {"quantization": {"scale": [scale], "zero_point": [zero]}}
    ends = [tensor("image", shape, kind, **fields), tensor("y", shape, kind, **fields)]
    return tree(graph(ends, [operator("RELU", [0], [1])], [0], [1]))


def plain(kind: str = "FLOAT32", shape: Sequence[int] = (1, 4, 4, 3)) -> Tree:
    """One operator on an image that is not quantized."""
    ends = [tensor("image", shape, kind), tensor("y", shape, kind)]
    return tree(graph(ends, [operator("RELU", [0], [1])], [0], [1]))


def behind_quantize(scale: float = 1 / 128, zero: int = 0) -> Tree:
    """An image of floats that the model quantizes itself."""
    fields: Mapping[str, Any] = {"quantization": {"scale": [scale], "zero_point": [zero]}}
    ends = [tensor("image", [1, 4, 4, 3]), tensor("y", [1, 4, 4, 3], "INT8", **fields)]
    return tree(graph(ends, [operator("QUANTIZE", [0], [1])], [0], [1]))


def division(kind: str, dtype: str = "INT64", divisor: Array | None = None) -> Tree:
    """Two integers by two; the divisor is given too if it is no constant."""
    constant = {} if divisor is None else {"buffer": 1}
    tensors = [tensor("a", [2], dtype), tensor("b", [2], dtype, **constant), tensor("y", [2], dtype)]
    inputs = [0, 1] if divisor is None else [0]
    return tree(
        graph(tensors, [operator(kind, [0, 1], [2])], inputs, [2]),
        buffers=[] if divisor is None else [divisor],
    )


def lookup(rows: int = 10) -> Tree:
    """Rows of a table by index, after a reshape of the indices."""
    tensors = [
        tensor("tokens", [1, 4], "INT32"),
        tensor("shape", [1], "INT32", buffer=1),
        tensor("flat", [4], "INT32"),
        tensor("table", [rows, 2], buffer=2),
        tensor("y", [4, 2]),
    ]
    steps = [
        operator("RESHAPE", [0, 1], [2], "ReshapeOptions"),
        operator("GATHER", [3, 2], [4], "GatherOptions", axis=0),
    ]
    table = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    return tree(graph(tensors, steps, [0], [4]), buffers=[np.array([4], np.int32), table])


def embedding(rows: int = 10) -> Tree:
    """Rows of a table by EMBEDDING_LOOKUP."""
    tensors = [tensor("tokens", [4], "INT32"), tensor("table", [rows, 2], buffer=1), tensor("y", [4, 2])]
    table = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    return tree(graph(tensors, [operator("EMBEDDING_LOOKUP", [0, 1], [2])], [0], [2]), buffers=[table])


def shaped(kind: str, place: int, value: Tree) -> Tree:
    """An operator that takes sizes from an input."""
    tensors = [tensor("sizes", [2], "INT32"), value, tensor("y", [1, 1])]
    operands = [0, 1] if place == 0 else [1, 0]
    if kind.startswith("RANDOM"):
        return tree(graph([tensors[0], tensors[2]], [operator(kind, [0], [1])], [0], [1]))
    return tree(graph(tensors, [operator(kind, operands, [2])], [0, 1], [2]))


def ramp(low: float, high: float, shape: Sequence[int] = (1, 4, 4, 3)) -> Array:
    """Floats from one end to the other."""
    return np.linspace(low, high, int(np.prod(shape)), dtype=np.float32).reshape(shape)
