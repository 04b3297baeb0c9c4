"""Small models for what the corpus lacks: ties, offline plans, loops, int4, int16, variables."""

from __future__ import annotations

import struct

import numpy as np

from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import Tree, tensor


def scaled(scale: float | list[float], zero: int = 0, axis: int = 0) -> Tree:
    """A tensor's quantization; several scales are one for each channel."""
    scales = scale if isinstance(scale, list) else [scale]
    return {
        "quantization": {
            "scale": scales,
            "zero_point": [zero] * len(scales),
            "quantized_dimension": axis,
        }
    }


def ties() -> bytes:
    """Four branches of one size that begin and end at different operators."""
    tensors = [tensor(f"t{i}", "FLOAT32", [1, 64]) for i in range(7)]
    steps = (
        op(0, [0], [1]),
        op(0, [0], [2]),
        op(1, [1, 2], [3], "Add"),
        op(0, [2], [4]),
        op(1, [3, 4], [5], "Add"),
        op(0, [5], [6]),
    )
    return model(["RELU", "ADD"], graph(tensors, [0], [6], *steps))


def planned_offline(offsets: list[int], count: int | None = None) -> bytes:
    """Three operators in a row, and a plan made before: -1 leaves a tensor to TFLM."""
    tensors = [tensor(f"t{i}", "FLOAT32", [1, 16]) for i in range(4)]
    steps = (op(0, [0], [1]), op(0, [1], [2]), op(0, [2], [3]))
    words = struct.pack(f"<{3 + len(offsets)}i", 1, 0, len(offsets) if count is None else count, *offsets)
    return model(
        ["RELU"],
        graph(tensors, [0], [3], *steps),
        buffers=(np.frombuffer(words, np.uint8),),
        metadata=[{"name": "OfflineMemoryAllocation", "buffer": 1}],
    )


def looping() -> bytes:
    """A WHILE whose body has tensors of its own, between two operators of the main subgraph."""
    row = [1, 32]
    main = graph(
        [tensor(name, "FLOAT32", row) for name in ("x", "before", "looped", "y")],
        [0],
        [3],
        op(0, [0], [1]),
        op(1, [1], [2], "While", cond_subgraph_index=1, body_subgraph_index=2),
        op(0, [2], [3]),
    )
    test = graph(
        [tensor("c", "FLOAT32", row), tensor("go", "BOOL", row)], [0], [1], op(2, [0, 0], [1], "Less")
    )
    body = graph(
        [tensor(name, "FLOAT32", row) for name in ("b", "b1", "b2")],
        [0],
        [2],
        op(0, [0], [1]),
        op(0, [1], [2]),
    )
    return model(["RELU", "WHILE", "LESS"], main, test, body)


def choosing() -> bytes:
    """An IF of two subgraphs, and a third subgraph nobody calls."""
    row = [1, 32]
    tensors = [tensor("go", "BOOL", [1]), tensor("x", "FLOAT32", row), tensor("y", "FLOAT32", row)]
    main = graph(tensors, [0, 1], [2], op(0, [0, 1], [2], "If", then_subgraph_index=1, else_subgraph_index=2))
    branch = graph([tensor("a", "FLOAT32", row), tensor("b", "FLOAT32", row)], [0], [1], op(1, [0], [1]))
    return model(["IF", "RELU"], main, branch, branch, branch)


def with_variables() -> bytes:
    """A resource variable set once and read, and a variable tensor."""
    tensors = [
        tensor("handle", "RESOURCE", [1]),
        tensor("value", "FLOAT32", [1, 24]),
        tensor("x", "FLOAT32", [1, 24]),
        tensor("y", "FLOAT32", [1, 24]),
        tensor("state", "INT16", [3, 7], is_variable=True),
    ]
    named = {"container": "c", "shared_name": "weights"}
    main = graph(
        tensors,
        [2],
        [3],
        op(0, [], [], "CallOnce", init_subgraph_index=1),
        op(1, [], [0], "VarHandle", **named),
        op(2, [0], [1], "ReadVariable"),
        op(3, [1, 2], [3], "Add"),
    )
    first = graph(
        [tensor("handle", "RESOURCE", [1]), tensor("start", "FLOAT32", [1, 24], buffer=1)],
        [],
        [],
        op(1, [], [0], "VarHandle", **named),
        op(4, [0, 1], [], "AssignVariable"),
    )
    codes = ["CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ADD", "ASSIGN_VARIABLE"]
    return model(codes, main, first, buffers=(np.zeros(24, np.float32),))


def half_bytes() -> bytes:
    """A FULLY_CONNECTED with an int4 filter: a scratch buffer of one byte for each weight."""
    tensors = [
        tensor("x", "INT8", [1, 32], **scaled(0.5)),
        tensor("w", "INT4", [10, 32], buffer=1, **scaled(0.25)),
        tensor("y", "INT8", [1, 10], **scaled(1.0)),
    ]
    step = op(0, [0, 1, -1], [2], "FullyConnected")
    return model(["FULLY_CONNECTED"], graph(tensors, [0], [2], step), buffers=(np.zeros(160, np.uint8),))


def wide_softmax() -> bytes:
    """SOFTMAX in int16: two lookup tables in the tail."""
    tensors = [
        tensor("x", "INT16", [1, 10], **scaled(0.001)),
        tensor("y", "INT16", [1, 10], **scaled(1 / 32768)),
    ]
    return model(["SOFTMAX"], graph(tensors, [0], [1], op(0, [0], [1], "Softmax", beta=1.0)))


def rare_int8() -> bytes:
    """ADD_N, CUMSUM and LOG_SOFTMAX in int8, which keep data only in that type."""
    tensors = [tensor(name, "INT8", [1, 12], **scaled(0.5)) for name in ("a", "b", "sum", "running")]
    tensors.append(tensor("axis", "INT32", [1], buffer=1))
    tensors.append(tensor("y", "INT8", [1, 12], **scaled(1 / 16, 127)))
    steps = (
        op(0, [0, 1], [2], "AddN"),
        op(1, [2, 4], [3], "Cumsum"),
        op(2, [3], [5], "LogSoftmax"),
    )
    codes = ["ADD_N", "CUMSUM", "LOG_SOFTMAX"]
    return model(codes, graph(tensors, [0, 1], [5], *steps), buffers=(np.array([1], np.int32),))


def product() -> bytes:
    """A BATCH_MATMUL: its right side is copied, transposed, to the tail."""
    tensors = [
        tensor("a", "INT8", [2, 3, 8], **scaled(0.5)),
        tensor("b", "INT8", [2, 8, 5], **scaled(0.25)),
        tensor("y", "INT8", [2, 3, 5], **scaled(1.0)),
    ]
    return model(["BATCH_MATMUL"], graph(tensors, [0, 1], [2], op(0, [0, 1], [2], "BatchMatMul")))


def convolution(kind: str = "INT8", filter_kind: str = "INT8", bias_kind: str = "INT32") -> bytes:
    """CONV_2D 3x3 by channel, a depthwise 5x5, an average: what CMSIS-NN asks buffers for."""
    quantized = kind != "FLOAT32"
    act, by_first, by_last, bias = (
        given if quantized else {}
        for given in (scaled(0.5), scaled([0.25] * 6), scaled([0.25] * 6, axis=3), scaled([0.125] * 6))
    )
    tensors = [
        tensor("x", kind, [1, 8, 8, 3], **act),
        tensor("w", filter_kind, [6, 3, 3, 3], buffer=1, **by_first),
        tensor("c", kind, [1, 8, 8, 6], **act),
        tensor("d", filter_kind, [1, 5, 5, 6], buffer=2, **by_last),
        tensor("e", kind, [1, 8, 8, 6], **act),
        tensor("y", kind, [1, 4, 4, 6], **act),
        tensor("b", bias_kind, [6], buffer=3, **bias),
    ]
    strides = {"stride_w": 1, "stride_h": 1}
    steps = (
        op(0, [0, 1, 6], [2], "Conv2D", **strides),
        op(1, [2, 3, 6], [4], "DepthwiseConv2D", depth_multiplier=1, **strides),
        op(2, [4], [5], "Pool2D", stride_w=2, stride_h=2, filter_width=2, filter_height=2),
    )
    width = 1 if quantized else 4
    return model(
        ["CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D"],
        graph(tensors, [0], [5], *steps),
        buffers=(np.zeros(162 * width, np.uint8), np.zeros(150 * width, np.uint8), np.zeros(6, np.int64)),
    )


def open_shape() -> bytes:
    """A RESHAPE to a shape with a -1, and a GATHER: dims of their own in the tail."""
    tensors = [
        tensor("x", "FLOAT32", [2, 12]),
        tensor("flat", "FLOAT32", [-1, 4]),
        tensor("which", "INT32", [3], buffer=1),
        tensor("y", "FLOAT32", [3, 4]),
    ]
    steps = (op(0, [0], [1], "Reshape", new_shape=[-1, 4]), op(1, [1, 2], [3], "Gather"))
    return model(
        ["RESHAPE", "GATHER"], graph(tensors, [0], [3], *steps), buffers=(np.array([0, 2, 1], np.int32),)
    )


ALL = {
    "ties": ties(),
    "offline": planned_offline([-1, 256, 0, -1]),
    "looping": looping(),
    "choosing": choosing(),
    "variables": with_variables(),
    "int4": half_bytes(),
    "softmax int16": wide_softmax(),
    "rare int8": rare_int8(),
    "product": product(),
    "convolution int8": convolution(),
    "convolution float": convolution("FLOAT32", "FLOAT32", "FLOAT32"),
    "convolution int16": convolution("INT16", bias_kind="INT64"),
    "open shape": open_shape(),
}
