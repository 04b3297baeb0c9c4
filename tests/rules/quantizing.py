"""Models of a few layers, each quantized or not, with what they were to become."""

from __future__ import annotations

from typing import Any

import numpy as np

from outlive.model import read_source
from outlive.rules.quantization.expectation import find_expectation
from outlive.surgery import write
from tests.rules.small import Tree, graph, operator, tensor, tree

_SCALE = {"quantization": {"scale": [0.5], "zero_point": [0]}}


def expected(word: str, model: Tree) -> dict[str, object]:
    """The facts: a model, and what was asked for."""
    return {"model": read_source(write(model)).model, "expectation": find_expectation(word)}


def quantized(name: str, kind: str = "INT8", **fields: Any) -> Tree:
    """A tensor of small integers with a scale."""
    return tensor(name, [1, 8], kind, **_SCALE, **fields)


def dense_chain(first: str = "INT8", second: str = "INT8", ends: str = "INT8") -> Tree:
    """Two activations between borders; a type of FLOAT32 is one that stayed as it was."""
    rows = [
        _value("x", ends),
        _value("a", first),
        _value("b", second),
        _value("c", second),
        _value("y", ends),
    ]
    steps = [
        _border(0, 1, ends, first),
        operator("RELU", [1], [2]) if first == second else _border(1, 2, first, second),
        operator("TANH", [2], [3]),
        _border(3, 4, second, ends),
    ]
    return tree(graph(rows, steps, [0], [4]))


def weighted(kind: str) -> Tree:
    """A dense layer of floats whose weights are of this type."""
    numbers = {"FLOAT32": np.float32, "INT8": np.int8}
    scale = _SCALE if kind == "INT8" else {}
    rows = [
        tensor("x", [1, 64]),
        tensor("weights", [32, 64], kind, buffer=1, **scale),
        tensor("y", [1, 32]),
    ]
    step = operator("FULLY_CONNECTED", [0, 1, -1], [2], "FullyConnectedOptions")
    return tree(graph(rows, [step], [0], [2]), buffers=[np.ones((32, 64), numbers[kind])])


def _value(name: str, kind: str) -> Tree:
    return tensor(name, [1, 8]) if kind == "FLOAT32" else quantized(name, kind)


def _border(source: int, target: int, before: str, behind: str) -> Tree:
    if before == behind:
        return operator("RELU", [source], [target])
    return operator("DEQUANTIZE" if behind == "FLOAT32" else "QUANTIZE", [source], [target])
