"""Models whose inputs and outputs are of every kind that a program may have to feed or read."""

from __future__ import annotations

import numpy as np

from tests.interpreter.dropin_models import MODELS, graph, model, op
from tests.model.small import Tree, tensor

# Every one of them ends, continues or reinterprets something in some language.
HOSTILE = (
    '"); exit(1); ("',
    "*/ int injected; /*",
    "// line\nint injected;\r\n",
    "\\u000aint injected;\\u0022",
    "??/\nint injected;",
    "trailing backslash \\",
    "'''\"\"\"\nimport os; os.abort()\n'''",
    "{{ 7 * 7 }}{% raise %}",
    "class",
    "lambda",
    "0x",
    "",
    "\x00\x1b[2J\u202e\u2028",
    "日本語",
    "a" * 500,
    "x",
    "X",
)


def hostile() -> bytes:
    """One input and output for each hostile name."""
    count = len(HOSTILE)
    tensors = [tensor(name, "FLOAT32", [1, 2]) for name in HOSTILE]
    tensors += [tensor(name, "FLOAT32", [1, 2]) for name in HOSTILE]
    steps = [op(0, [index], [count + index]) for index in range(count)]
    return model(["RELU"], graph(tensors, [*range(count)], [*range(count, 2 * count)], *steps))


def hostile_signatures() -> bytes:
    """The same names as keys of signatures and as the names of their arguments."""
    pair = [tensor("p", "FLOAT32", [1, 2]), tensor("q", "FLOAT32", [1, 2])]
    graphs = [graph(pair, [0], [1], op(0, [0], [1])) for _ in range(2)]
    defs = [
        {
            "signature_key": key,
            "subgraph_index": index,
            "inputs": [{"name": key, "tensor_index": 0}],
            "outputs": [{"name": key, "tensor_index": 1}],
        }
        for index, key in enumerate((HOSTILE[0], HOSTILE[3]))
    ]
    return model(["RELU"], *graphs, signature_defs=defs)


def quantized(kind: str, scale: float, zero_point: int) -> bytes:
    """An input and an output of quantized integers."""
    parameters = {"scale": [scale], "zero_point": [zero_point]}
    tensors = [
        tensor("sensor", kind, [1, 3], quantization=parameters),
        tensor("alarm", kind, [1, 3], quantization=parameters),
    ]
    return model(["RESHAPE"], graph([*tensors, _shape()], [0], [1], op(0, [0, 2], [1], "Reshape")), buffers=(
        np.array([1, 3], np.int32),
    ))  # fmt: skip


def _shape() -> Tree:
    return tensor("shape", "INT32", [2], buffer=1)


def opened() -> bytes:
    """An input whose first size is the caller's choice."""
    tensors = [
        tensor("rows", "FLOAT32", [1, 2], shape_signature=[-1, 2]),
        tensor("result", "FLOAT32", [1, 2], shape_signature=[-1, 2]),
    ]
    return model(["RELU"], graph(tensors, [0], [1], op(0, [0], [1])))


def ordinary() -> bytes:
    """Names that people give, and that code or its headers have for something else."""
    names = ("i", "free", "size_t", "image", "image_shape", "resolver", "file", "arguments", "a1", "a_1")
    results = ("i", "boxes", "boxes_count", "result", "count", "model", "main", "printf", "b1", "b_1")
    open_rows = {"shape_signature": [-1, 2]}
    tensors = [tensor(name, "FLOAT32", [1, 2], **open_rows) for name in (*names, *results)]
    count = len(names)
    steps = [op(0, [index], [count + index]) for index in range(count)]
    return model(["RELU"], graph(tensors, [*range(count)], [*range(count, 2 * count)], *steps))


def several() -> dict[str, bytes]:
    """By name: what a snippet must be able to write."""
    return {
        "hostile": hostile(),
        "hostile_signatures": hostile_signatures(),
        "int8": quantized("INT8", 0.5, 3),
        "uint8": quantized("UINT8", 0.25, 128),
        "int16": quantized("INT16", 0.125, 0),
        "opened": opened(),
        "ordinary": ordinary(),
        **{name: build() for name, build in MODELS.items()},
    }
