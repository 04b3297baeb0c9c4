"""Small networks for the tests: a float one, and its int8 twin with faults planted on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.surgery import tree_of, write
from tests.model.small import Tree, tensor

SIZE = 16
LAYERS = 4


def weights(layers: int = LAYERS, size: int = SIZE, seed: int = 1) -> list[NDArray[Any]]:
    """Weights of dense layers that keep values at about the size they have."""
    chance = np.random.default_rng(seed)
    return [(chance.standard_normal((size, size)) / np.sqrt(size)).astype(np.float32) for _ in range(layers)]


def samples(count: int = 6, size: int = SIZE, seed: int = 2) -> list[NDArray[Any]]:
    """Inputs from -1 to 1."""
    chance = np.random.default_rng(seed)
    return [chance.uniform(-1, 1, (1, size)).astype(np.float32) for _ in range(count)]


def dense_float(matrices: list[NDArray[Any]], names: str = "layer", batch: int = 1) -> bytes:
    """Dense layers, one after the other."""
    size = matrices[0].shape[0]
    rows = [tensor("x", "FLOAT32", [batch, size])]
    steps = []
    for place, _ in enumerate(matrices):
        rows.append(tensor(f"w{place}", "FLOAT32", [size, size], buffer=place + 1))
        rows.append(tensor(f"{names}{place}", "FLOAT32", [batch, size]))
        before = 0 if place == 0 else 2 * place
        steps.append(_dense([before, 2 * place + 1, -1], 2 * place + 2))
    return _file(rows, steps, [{"data": matrix} for matrix in matrices], ["FULLY_CONNECTED"])


def ending_with(content: bytes, code: str, **options: Any) -> bytes:
    """The network with one more operator of this kind behind its output, which is then called `end`."""
    tree = tree_of(memoryview(content))
    main = tree["subgraphs"][0]
    [last] = main["outputs"]
    main["tensors"].append(tensor("end", "FLOAT32", main["tensors"][last]["shape"]))
    place = len(main["tensors"]) - 1
    step = {"opcode_index": len(tree["operator_codes"]), "inputs": [last], "outputs": [place], **options}
    tree["operator_codes"].append({"builtin_code": code, "version": 1})
    main["operators"].append(step)
    main["outputs"] = [place]
    return write(tree)


def with_bias(content: bytes, op: int, bias: NDArray[Any]) -> bytes:
    """The network with a bias in one of its dense layers."""
    tree = tree_of(memoryview(content))
    main = tree["subgraphs"][0]
    tree["buffers"].append({"data": bias.astype(np.float32)})
    main["tensors"].append(tensor(f"b{op}", "FLOAT32", [len(bias)], buffer=len(tree["buffers"]) - 1))
    step = main["operators"][op]
    step["inputs"] = [*step["inputs"][:2], len(main["tensors"]) - 1]
    return write(tree)


def ranges(matrices: list[NDArray[Any]], given: list[NDArray[Any]]) -> list[float]:
    """The greatest magnitude before each layer, and behind the last."""
    most = [max(float(np.abs(value).max()) for value in given)]
    values = given
    for matrix in matrices:
        values = [value @ matrix.T for value in values]
        most.append(max(float(np.abs(value).max()) for value in values))
    return most


def dense_int8(
    matrices: list[NDArray[Any]],
    given: list[NDArray[Any]],
    plant: Callable[[Tree], None] = lambda tree: None,
    names: str = "layer",
) -> bytes:
    """The int8 twin: QUANTIZE, dense layers of int8, DEQUANTIZE; `plant` may change its tree."""
    most = ranges(matrices, given)
    size = matrices[0].shape[0]
    rows = [tensor("x", "FLOAT32", [1, size]), _int8("x_int8", [1, size], most[0] / 127)]
    steps: list[Tree] = [{"opcode_index": 1, "inputs": [0], "outputs": [1]}]
    buffers = []
    for place, matrix in enumerate(matrices):
        scale = float(np.abs(matrix).max()) / 127
        buffers.append({"data": np.clip(np.round(matrix / scale), -127, 127).astype(np.int8)})
        rows.append(_int8(f"w{place}", [size, size], scale, buffer=place + 1))
        rows.append(_int8(f"{names}{place}", [1, size], most[place + 1] / 127))
        before = 1 if place == 0 else 2 * place + 1
        steps.append(_dense([before, 2 * place + 2, -1], 2 * place + 3))
    rows.append(tensor("y", "FLOAT32", [1, size]))
    steps.append({"opcode_index": 2, "inputs": [len(rows) - 2], "outputs": [len(rows) - 1]})
    tree = _tree(rows, steps, buffers, ["FULLY_CONNECTED", "QUANTIZE", "DEQUANTIZE"])
    plant(tree)
    return write(tree)


def find(tree: Tree, name: str) -> Tree:
    """The tensor of that name in a tree."""
    rows: list[Tree] = tree["subgraphs"][0]["tensors"]
    return next(row for row in rows if row["name"] == name)


def stretch(name: str, factor: float) -> Callable[[Tree], None]:
    """A fault: the scale of a tensor, multiplied."""

    def plant(tree: Tree) -> None:
        row = find(tree, name)
        row["quantization"] = {**row["quantization"], "scale": [row["quantization"]["scale"][0] * factor]}

    return plant


def shift(name: str, steps: int) -> Callable[[Tree], None]:
    """A fault: the zero point of a tensor, moved."""

    def plant(tree: Tree) -> None:
        row = find(tree, name)
        row["quantization"] = {**row["quantization"], "zero_point": [steps]}

    return plant


def _int8(name: str, shape: list[int], scale: float, **fields: Any) -> Tree:
    return tensor(name, "INT8", shape, quantization={"scale": [scale], "zero_point": [0]}, **fields)


def _dense(inputs: list[int], output: int) -> Tree:
    options = {"builtin_options_type": "FullyConnectedOptions", "builtin_options": {}}
    return {"opcode_index": 0, "inputs": inputs, "outputs": [output], **options}


def _tree(rows: list[Tree], steps: list[Tree], buffers: list[Any], codes: list[str]) -> Tree:
    main = {"tensors": rows, "inputs": [0], "outputs": [len(rows) - 1], "operators": steps}
    kinds = [{"builtin_code": code, "version": 1} for code in codes]
    kinds[0]["version"] = 4 if len(codes) > 1 else 1
    return {"version": 3, "operator_codes": kinds, "buffers": [{}, *buffers], "subgraphs": [main]}


def _file(rows: list[Tree], steps: list[Tree], buffers: list[Any], codes: list[str]) -> bytes:
    return write(_tree(rows, steps, buffers, codes))
