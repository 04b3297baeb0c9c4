"""Models with something to spare, one kind of waste each, and some that only look so."""

from __future__ import annotations

from typing import Any

import numpy as np

from outlive.surgery import write
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import Tree, tensor

NOISE = np.random.default_rng(7)
FOUR = np.arange(4, dtype=np.float32).reshape(1, 4)
WEIGHTS = NOISE.normal(size=(4, 4)).astype(np.float32)
QUANTIZED = {"scale": [0.5], "zero_point": [3]}


def _floats(*names: str, **buffers: int) -> list[Tree]:
    return [tensor(name, "FLOAT32", [1, 4], buffer=buffers.get(name, 0)) for name in names]


def dead() -> bytes:
    """y = relu(x); a second branch of two operators and a constant goes nowhere."""
    tensors = _floats("x", "y", "lost", "gone", "offset", offset=1)
    steps = op(0, [0], [1]), op(1, [0, 4], [2], "Add"), op(2, [2], [3])
    return model(["RELU", "ADD", "ABS"], graph(tensors, [0], [1], *steps), buffers=(FOUR,))


def repeated() -> bytes:
    """Two dense layers whose equal weights are stored twice, and a constant that nobody uses."""
    tensors = [
        tensor("x", "FLOAT32", [1, 4]),
        tensor("first", "FLOAT32", [4, 4], buffer=1),
        tensor("second", "FLOAT32", [4, 4], buffer=2),
        tensor("h", "FLOAT32", [1, 4]),
        tensor("y", "FLOAT32", [1, 4]),
    ]
    steps = op(0, [0, 1, -1], [3], "FullyConnected"), op(0, [3, 2, -1], [4], "FullyConnected")
    spare = NOISE.normal(size=50).astype(np.float32)
    return model(["FULLY_CONNECTED"], graph(tensors, [0], [4], *steps), buffers=(WEIGHTS, WEIGHTS, spare))


def copying() -> bytes:
    """x is reshaped to its own shape, transposed by nothing and padded by nothing on its way to relu."""
    tensors = [
        *_floats("x", "a", "b", "c", "y"),
        tensor("shape", "INT32", [2], buffer=1),
        tensor("order", "INT32", [2], buffer=2),
        tensor("pads", "INT32", [2, 2], buffer=3),
    ]
    steps = (
        op(0, [0, 5], [1], "Reshape"),
        op(1, [1, 6], [2], "Transpose"),
        op(2, [2, 7], [3], "Pad"),
        op(3, [3], [4]),
    )
    constants = (np.array([1, 4], np.int32), np.array([0, 1], np.int32), np.zeros((2, 2), np.int32))
    return model(["RESHAPE", "TRANSPOSE", "PAD", "RELU"], graph(tensors, [0], [4], *steps), buffers=constants)


def not_copying() -> bytes:
    """The same operators, each of which does something or makes an output."""
    tensors = [
        *_floats("x", "a", "y"),
        tensor("wide", "FLOAT32", [4, 1]),
        tensor("shape", "INT32", [2], buffer=1),
        tensor("order", "INT32", [2], buffer=2),
    ]
    steps = (
        op(0, [0, 4], [1], "Reshape"),  # to the same shape, but an output
        op(1, [1, 5], [3], "Transpose"),
        op(0, [3, 4], [2], "Reshape"),
    )
    constants = (np.array([1, 4], np.int32), np.array([1, 0], np.int32))
    return model(["RESHAPE", "TRANSPOSE"], graph(tensors, [0], [1, 2], *steps), buffers=constants)


def requantized(**after: Any) -> bytes:
    """int8 to floats and back before relu; `after` are other parameters of the second."""
    again = {**QUANTIZED, **after}
    tensors = [
        tensor("x", "INT8", [1, 4], quantization=QUANTIZED),
        tensor("floats", "FLOAT32", [1, 4]),
        tensor("again", "INT8", [1, 4], quantization=again),
        tensor("y", "INT8", [1, 4], quantization=again),
    ]
    steps = op(0, [0], [1]), op(1, [1], [2]), op(2, [2], [3])
    return model(["DEQUANTIZE", "QUANTIZE", "RELU"], graph(tensors, [0], [3], *steps))


def quantized_twins() -> bytes:
    """Two dense layers with equal bytes as weights, but scales of their own."""
    inner = {"scale": [0.25], "zero_point": [0]}
    tensors = [
        tensor("x", "INT8", [1, 4], quantization=QUANTIZED),
        tensor("first", "INT8", [4, 4], buffer=1, quantization={"scale": [0.1], "zero_point": [0]}),
        tensor("second", "INT8", [4, 4], buffer=2, quantization={"scale": [0.3], "zero_point": [0]}),
        tensor("h", "INT8", [1, 4], quantization=inner),
        tensor("y", "INT8", [1, 4], quantization=inner),
    ]
    steps = op(0, [0, 1, -1], [3], "FullyConnected"), op(0, [3, 2, -1], [4], "FullyConnected")
    weights = np.arange(-8, 8, dtype=np.int8).reshape(4, 4)
    return model(["FULLY_CONNECTED"], graph(tensors, [0], [4], *steps), buffers=(weights, weights))


def cluttered(**root: Any) -> bytes:
    """Empty buffers, kinds of operators, tensors and a subgraph that nothing refers to."""
    main = graph(
        [tensor("x", "FLOAT32", [1, 4], buffer=1), *_floats("idle", "idler", "y")], [0], [3], op(1, [0], [3])
    )
    spare = graph(_floats("p", "q"), [0], [1], op(2, [0], [1]))
    kinds = [{"builtin_code": code} for code in ("ABS", "RELU", "NEG", "SOFTMAX")]
    buffers = [{}, {}, {}, {"data": FOUR}]
    rest = {"operator_codes": kinds, "buffers": buffers, "subgraphs": [main, spare], **root}
    return write({"version": 3, **rest})


def debugged() -> bytes:
    """It remembers the places in the source that its operators come from."""
    metadata = [{"name": "debug_metadata", "buffer": 1}, {"name": "min_runtime_version", "buffer": 2}]
    step = {**op(0, [0], [1]), "debug_metadata_index": 1}
    main = {**graph(_floats("x", "y"), [0], [1], step), "debug_metadata_index": 0}
    places = np.frombuffer(b"/home/somebody/model.py:12" * 20, np.uint8)
    version = np.frombuffer(b"1.5.0\0", np.uint8)
    return model(["RELU"], main, buffers=(places, version), metadata=metadata)


def signed() -> bytes:
    """A signature for the first subgraph and one for the third; nobody calls the second."""
    pair = _floats("unused", "p", "q")
    main = graph(_floats("idle", "x", "y"), [1], [2], op(0, [1], [2]))
    second = graph(pair, [1], [2], op(1, [1], [2]))
    third = graph(pair, [1], [2], op(2, [1], [2]))

    def signature(key: str, subgraph: int) -> Tree:
        ends = {
            "inputs": [{"name": "given", "tensor_index": 1}],
            "outputs": [{"name": "result", "tensor_index": 2}],
        }
        return {"signature_key": key, "subgraph_index": subgraph, **ends}

    defs = [signature("main", 0), signature("third", 2)]
    return model(["RELU", "ABS", "NEG"], main, second, third, signature_defs=defs)
