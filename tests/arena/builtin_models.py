"""Small models for the builtin planner, one for each thing it must know."""

from __future__ import annotations

from typing import Any

import numpy as np

from outlive.arena.builtin.planning import plan_builtin
from outlive.arena.plan import Placement, Plan, Question
from outlive.model import Model, read_source
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import Tree, tensor


def planned(data: bytes, **question: Any) -> tuple[Plan, Model]:
    """The plan of a model, and the model."""
    read = read_source(data).model
    assert read is not None
    return plan_builtin(read, Question(accelerator="builtin", **question)), read


def places(plan: Plan) -> dict[int, Placement]:
    """Placements of the main graph by tensor."""
    return {placement.tensor: placement for placement in plan.placements}


def floats(*shapes: tuple[int, ...], **fields: Any) -> list[Tree]:
    """Float tensors t0, t1 ... of these shapes."""
    return [tensor(f"t{i}", "FLOAT32", shape, **fields) for i, shape in enumerate(shapes)]


def in_place_chain() -> bytes:
    """RELU, then ADD and SOFTMAX, which may work in place, then RESHAPE, then RELU again."""
    tensors = [
        *floats((1, 64), (1, 64), (1, 64), (1, 64), (64,), (64,)),
        tensor("c", "FLOAT32", [1, 64], buffer=1),
        tensor("shape", "INT32", [1], buffer=2),
    ]
    steps = (
        op(0, [0], [1]),
        op(1, [1, 6], [2], "Add"),
        op(2, [2], [3], "Softmax", beta=1.0),
        op(3, [3, 7], [4], "Reshape", new_shape=[64]),
        op(0, [4], [5]),
    )
    constants = (np.ones((1, 64), np.float32), np.array([64], np.int32))
    return model(["RELU", "ADD", "SOFTMAX", "RESHAPE"], graph(tensors, [0], [5], *steps), buffers=constants)


def open_length() -> bytes:
    """SHAPE of an open input, packed with numbers, gives RESHAPE its shape when it runs; RELU follows."""
    tensors = [
        tensor("x", "FLOAT32", [1, 8], shape_signature=[-1, 8]),
        tensor("shape", "INT32", [2]),
        tensor("rows", "INT32", []),
        tensor("four", "INT32", [], buffer=1),
        tensor("two", "INT32", [], buffer=2),
        tensor("wanted", "INT32", [3]),
        tensor("y", "FLOAT32", [1, 1, 1], shape_signature=[-1, -1, -1]),
        tensor("z", "FLOAT32", [1, 1, 1], shape_signature=[-1, -1, -1]),
        *(tensor(name, "INT32", [1], buffer=at) for name, at in (("zero", 3), ("one", 4))),
    ]
    steps = (
        op(0, [0], [1], "Shape", out_type="INT32"),
        op(1, [1, 8, 9, 9], [2], "StridedSlice", shrink_axis_mask=1),
        op(2, [2, 3, 4], [5], "Pack", values_count=3),
        op(3, [0, 5], [6], "Reshape"),
        op(4, [6], [7]),
    )
    numbers = (np.array(4, np.int32), np.array(2, np.int32), np.array([0], np.int32), np.array([1], np.int32))
    kinds = ["SHAPE", "STRIDED_SLICE", "PACK", "RESHAPE", "RELU"]
    return model(kinds, graph(tensors, [0], [7], *steps), buffers=numbers)


def typed_by_kernel() -> bytes:
    """ADDs of int8 whose outputs the file calls float32: the kernel makes them int8."""
    scale = {"quantization": {"scale": [0.5], "zero_point": [0]}}
    names = ("x", "INT8"), ("y", "FLOAT32"), ("z", "FLOAT32"), ("out", "INT8")
    tensors = [tensor(name, kind, [1, 576], **scale) for name, kind in names]
    steps = (op(0, [a, b], [c], "Add") for a, b, c in ((0, 0, 1), (1, 0, 2), (1, 2, 3)))
    return model(["ADD"], graph(tensors, [0], [3], *steps))


def waiting() -> bytes:
    """RANGE to a limit that comes in: its size is known when it runs; an operator follows."""
    tensors = [
        tensor("limit", "INT32", []),
        tensor("zero", "INT32", [], buffer=1),
        tensor("one", "INT32", [], buffer=2),
        tensor("row", "INT32", [4], shape_signature=[-1]),
        tensor("out", "INT32", [4], shape_signature=[-1]),
    ]
    steps = op(0, [1, 0, 2], [3], "Range"), op(1, [3, 2], [4], "MaximumMinimum")
    numbers = (np.array(0, np.int32), np.array(1, np.int32))
    return model(["RANGE", "MAXIMUM"], graph(tensors, [0], [4], *steps), buffers=numbers)


def known_at_prepare() -> bytes:
    """SHAPE of an input, cut and multiplied with numbers at Prepare, gives RESHAPE its shape."""
    tensors = [
        tensor("x", "FLOAT32", [2, 3, 4]),
        tensor("shape", "INT32", [3]),
        tensor("first", "INT32", [1]),
        tensor("twelve", "INT32", [1], buffer=1),
        tensor("zero", "INT32", [1], buffer=2),
        tensor("one", "INT32", [1], buffer=3),
        tensor("wanted", "INT32", [2]),
        tensor("y", "FLOAT32", [1, 1]),  # a stale shape: the kernel makes it 2x12
        tensor("z", "FLOAT32", [1, 1]),
    ]
    steps = (
        op(0, [0], [1], "Shape", out_type="INT32"),
        op(1, [1, 4, 5, 5], [2], "StridedSlice"),
        op(2, [2, 3], [6], "Concatenation", axis=0),
        op(3, [0, 6], [7], "Reshape"),
        op(4, [7], [8]),
    )
    numbers = tuple(np.array([value], np.int32) for value in (12, 0, 1))
    codes = ["SHAPE", "STRIDED_SLICE", "CONCATENATION", "RESHAPE", "RELU"]
    return model(codes, graph(tensors, [0], [8], *steps), buffers=numbers)


def dequantized() -> bytes:
    """A constant in half precision, made float for good, and added."""
    tensors = [
        tensor("x", "FLOAT32", [1, 100]),
        tensor("half", "FLOAT16", [1, 100], buffer=1),
        tensor("whole", "FLOAT32", [1, 100]),
        tensor("y", "FLOAT32", [1, 100]),
    ]
    steps = op(0, [1], [2], "Dequantize"), op(1, [0, 2], [3], "Add")
    return model(
        ["DEQUANTIZE", "ADD"], graph(tensors, [0], [3], *steps), buffers=(np.ones((1, 100), np.float16),)
    )


def loop(calls: tuple[int, int] = (1, 2)) -> bytes:
    """WHILE x < 10: x + 1, over a vector beside the counter."""
    sizes = ("INT32", [1]), ("FLOAT32", [8])
    main = [tensor(f"m{i}", *sizes[i % 2]) for i in range(4)]
    ten = tensor("ten", "INT32", [1], buffer=1)
    condition = [*(tensor(f"c{i}", *sizes[i]) for i in range(2)), ten, tensor("less", "BOOL", [1])]
    one = tensor("one", "INT32", [1], buffer=2)
    body = [
        *(tensor(f"b{i}", *sizes[i % 2]) for i in range(2)),
        one,
        *(tensor(f"o{i}", *sizes[i]) for i in (0, 1)),
    ]
    step = op(0, [0, 1], [2, 3], "While", cond_subgraph_index=calls[0], body_subgraph_index=calls[1])
    return model(
        ["WHILE", "LESS", "ADD", "RELU"],
        graph(main, [0, 1], [2, 3], step),
        graph(condition, [0, 1], [3], op(1, [0, 2], [3], "Less")),
        graph(body, [0, 1], [3, 4], op(2, [0, 2], [3], "Add"), op(3, [1], [4])),
        buffers=(np.array([10], np.int32), np.array([1], np.int32)),
    )


def list_loop(width: int, rows: int = 32) -> bytes:
    """A loop as Keras writes an LSTM: it sets the rows of a list one by one; weights are of float16."""
    counter, whole = ("INT32", [1]), ("FLOAT32", [rows, width])
    main = [tensor(f"m{i}", *(counter, whole)[i % 2]) for i in range(4)]
    condition = [tensor("c0", *counter), tensor("c1", *whole), tensor("end", *counter, buffer=1)]
    body = [
        tensor("i", *counter),
        tensor("list", *whole),
        tensor("half", "FLOAT16", [width, width], buffer=2),
        tensor("weights", "FLOAT32", [width, width]),
        tensor("row", "FLOAT32", [1, width], buffer=3),
        tensor("item", "FLOAT32", [1, width]),
        tensor("one", *counter, buffer=4),
        tensor("next", *counter),
        tensor("width", *counter, buffer=5),
        tensor("zero", *counter, buffer=6),
        tensor("size", "INT32", [2]),
        tensor("begin", "INT32", [2]),
        tensor("zeros", "INT32", [2], buffer=7),
        tensor("all", "INT32", [2], buffer=8),
        tensor("before", "FLOAT32", [1, 1], shape_signature=[-1, -1]),
        tensor("behind", "FLOAT32", [1, width], shape_signature=[-1, width]),
        tensor("joined", *whole),
    ]
    steps = (
        op(2, [2], [3], "Dequantize"),
        op(3, [4, 3, -1], [5], "FullyConnected"),
        op(4, [0, 6], [7], "Add"),
        op(5, [0, 8], [10], "Concatenation"),
        op(6, [1, 12, 10], [14], "Slice"),
        op(5, [7, 9], [11], "Concatenation"),
        op(6, [1, 11, 13], [15], "Slice"),
        op(5, [14, 5, 15], [16], "Concatenation"),
    )
    numbers = ([rows], [1], [width], [0], [0, 0], [-1, -1])
    end, one, wide, zero, zeros, rest = (np.array(values, np.int32) for values in numbers)
    repeat = op(0, [0, 1], [2, 3], "While", cond_subgraph_index=1, body_subgraph_index=2)
    half, row = np.ones((width, width), np.float16), np.ones(width, np.float32)
    return model(
        ["WHILE", "LESS", "DEQUANTIZE", "FULLY_CONNECTED", "ADD", "CONCATENATION", "SLICE"],
        graph(main, [0, 1], [2, 3], repeat),
        graph([*condition, tensor("less", "BOOL", [1])], [0, 1], [3], op(1, [0, 2], [3], "Less")),
        graph(body, [0, 1], [7, 16], *steps),
        buffers=(end, half, row, one, wide, zero, zeros, rest),
    )


def custom(name: str = "Mystery") -> bytes:
    """An operator nobody knows."""
    from outlive.surgery import write

    tensors = floats((4,), (4,))
    codes = [{"builtin_code": "CUSTOM", "custom_code": name}]
    return write(
        {
            "version": 3,
            "operator_codes": codes,
            "buffers": [{}],
            "subgraphs": [graph(tensors, [0], [1], op(0, [0], [1]))],
        }
    )
