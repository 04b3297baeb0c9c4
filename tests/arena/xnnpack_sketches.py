"""Models of one operator each, in many types and shapes, to ask the delegate which of them it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from outlive.surgery import write

Tree = dict[str, Any]
KINDS = ("FLOAT32", "INT8", "UINT8", "INT16", "INT32", "INT64", "FLOAT16", "BOOL")
# Operators that have one version only; the others are written as version 2.
_FIRST_VERSION = (
    *("RESHAPE", "GELU", "DEPTH_TO_SPACE", "SIN", "COS", "EXP", "NEG", "ABS", "CEIL", "ELU", "FLOOR"),
    *("HARD_SWISH", "RELU_N1_TO_1", "ROUND", "SQUARE", "RSQRT", "SQRT", "LOG", "SIGN"),
)
_NUMPY = {"FLOAT32": np.float32, "INT8": np.int8, "UINT8": np.uint8, "INT32": np.int32, "INT64": np.int64}


def scaled(scale: float = 0.5, zero: int = 0, count: int = 1, axis: int = 0) -> Tree:
    """Quantization parameters."""
    return {"scale": [scale] * count, "zero_point": [zero] * count, "quantized_dimension": axis}


def data(kind: str, shape: Sequence[int], **quantization: Any) -> Tree:
    """A tensor given at run time."""
    tensor: Tree = {"type": kind, "shape": list(shape)}
    if kind in ("INT8", "UINT8", "INT16"):
        tensor["quantization"] = scaled(**quantization)
    return tensor


def fixed(kind: str, shape: Sequence[int], quantization: Tree | None = None, fill: int = 1) -> Tree:
    """A constant of one value."""
    return {
        "type": kind,
        "shape": list(shape),
        "values": np.full(tuple(shape), fill, _NUMPY.get(kind, np.int16)),
        "quantization": quantization,
    }


def ints(*values: int, kind: str = "INT32", shape: Sequence[int] | None = None) -> Tree:
    """A constant of whole numbers: axes, paddings, a shape."""
    array = np.array(values, _NUMPY[kind]).reshape(tuple(shape) if shape is not None else (len(values),))
    return {"type": kind, "shape": list(array.shape), "values": array, "quantization": None}


def model(
    operator: str, inputs: Sequence[Tree | None], outputs: Sequence[Tree], options: str = "", **fields: Any
) -> bytes:
    """The bytes of a model of one operator; inputs without values are the model's."""
    tensors: list[Tree] = []
    buffers: list[Tree] = [{}]
    given: list[int] = []
    for tree in (*inputs, *outputs):
        if tree is None:
            given.append(-1)
            continue
        given.append(len(tensors))
        tensor = {key: value for key, value in tree.items() if key != "values" and value is not None}
        if tree.get("values") is not None:
            buffers.append({"data": tree["values"]})
            tensor["buffer"] = len(buffers) - 1
        tensors.append({"name": f"t{len(tensors)}", **tensor})
    sources, made = given[: len(inputs)], given[len(inputs) :]
    step: Tree = {"opcode_index": 0, "inputs": sources, "outputs": made}
    if options:
        step |= {"builtin_options_type": f"{options}Options", "builtin_options": fields}
    free = [index for index in sources if index >= 0 and "buffer" not in tensors[index]]
    return write(
        {
            "version": 3,
            "operator_codes": [{"builtin_code": operator, "version": 1 if operator in _FIRST_VERSION else 2}],
            "buffers": buffers,
            "subgraphs": [{"tensors": tensors, "inputs": free, "outputs": made, "operators": [step]}],
        }
    )


def elementwise() -> Iterator[tuple[str, bytes]]:
    """Unary and binary operators in every type, and with scales at and beyond the delegate's limits."""
    unary = (
        *("ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LOG", "LOGISTIC", "NEG"),
        *("RELU", "RELU6", "RELU_N1_TO_1", "ROUND", "RSQRT", "SIN", "SQRT", "SQUARE", "TANH", "SIGN"),
    )
    for operator in unary:
        for kind in KINDS[:4]:
            options = {"GELU": "Gelu"}.get(operator, "")
            yield f"{operator} {kind}", model(operator, [data(kind, (1, 4))], [data(kind, (1, 4))], options)
    for operator in ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
        options = {"ADD": "Add", "SUB": "Sub", "MUL": "Mul", "DIV": "Div"}.get(operator, "")
        for kind in KINDS[:5]:
            pair = [data(kind, (2, 4)), data(kind, (2, 4))]
            yield f"{operator} {kind}", model(operator, pair, [data(kind, (2, 4))], options)
        for scale in (0.0001, 0.0004, 0.5, 100.0, 300.0):
            pair = [data("INT8", (2, 4), scale=scale), data("INT8", (2, 4), scale=1.0)]
            yield f"{operator} {scale}", model(operator, pair, [data("INT8", (2, 4), scale=1.0)], options)
        wide = [data("FLOAT32", (1,) * 7), data("FLOAT32", (1,) * 7)]
        yield f"{operator} of 7 dimensions", model(operator, wide, [data("FLOAT32", (1,) * 7)], options)
    for name in ("RELU", "RELU6", "TANH", "SIGN_BIT"):
        pair = [data("FLOAT32", (2, 4)), data("FLOAT32", (2, 4))]
        made = [data("FLOAT32", (2, 4))]
        yield f"ADD then {name}", model("ADD", pair, made, "Add", fused_activation_function=name)
    for alpha in (0.0, 0.1, 300.0, -0.5):
        for kind in ("FLOAT32", "INT8", "UINT8"):
            pair = [data(kind, (1, 4))], [data(kind, (1, 4))]
            yield f"LEAKY_RELU {alpha} {kind}", model("LEAKY_RELU", *pair, "LeakyRelu", alpha=alpha)


def conversions() -> Iterator[tuple[str, bytes]]:
    """QUANTIZE and DEQUANTIZE between all types."""
    for given, made, scale in product(KINDS[:4], KINDS[:4], (0.5, 0.001)):
        if given != made or given == "INT8":
            pair = [data(given, (1, 4), scale=scale)], [data(made, (1, 4))]
            yield f"QUANTIZE {given} {made} {scale}", model("QUANTIZE", *pair)
    for kind in ("INT8", "UINT8", "INT16", "FLOAT16"):
        yield f"DEQUANTIZE {kind}", model("DEQUANTIZE", [data(kind, (1, 4))], [data("FLOAT32", (1, 4))])


def layers() -> Iterator[tuple[str, bytes]]:
    """Convolutions and products: types of input and weights, biases, scales per channel, activations."""
    per_channel = scaled(0.25, 0, 8)
    kernels = {
        "float": fixed("FLOAT32", (8, 3, 3, 4)),
        "int8": fixed("INT8", (8, 3, 3, 4), scaled()),
        "int8 per channel": fixed("INT8", (8, 3, 3, 4), per_channel),
        "int8 wrong axis": fixed("INT8", (8, 3, 3, 4), scaled(0.25, 0, 4, 3)),
        "uint8": fixed("UINT8", (8, 3, 3, 4), scaled(0.5, 100)),
        "fed": data("FLOAT32", (8, 3, 3, 4)),
    }
    offsets = {
        "float": fixed("FLOAT32", (8,)),
        "int32": fixed("INT32", (8,), scaled(0.25)),
        "int32 per channel": fixed("INT32", (8,), scaled(0.125, 0, 8)),
        "none": None,
    }
    for kind in ("FLOAT32", "INT8", "UINT8", "INT16"):
        for kernel, weights in kernels.items():
            for name, offset in offsets.items():
                made = [data(kind, (1, 6, 6, 8))]
                given = [data(kind, (1, 6, 6, 4)), weights, offset]
                label = f"CONV_2D {kind}, {kernel} weights, {name} bias"
                yield label, model("CONV_2D", given, made, "Conv2D", stride_w=1, stride_h=1)
    for act in ("RELU6", "TANH"):
        given = [data("FLOAT32", (1, 6, 6, 4)), kernels["float"], offsets["float"]]
        options = {"stride_w": 2, "stride_h": 2, "fused_activation_function": act}
        yield f"CONV_2D {act}", model("CONV_2D", given, [data("FLOAT32", (1, 3, 3, 8))], "Conv2D", **options)


def products() -> Iterator[tuple[str, bytes]]:
    """FULLY_CONNECTED and BATCH_MATMUL."""
    kernels = {
        "float": fixed("FLOAT32", (8, 4)),
        "int8": fixed("INT8", (8, 4), scaled()),
        "int8 per channel": fixed("INT8", (8, 4), scaled(0.5, 0, 8)),
        "int8 with zero point": fixed("INT8", (8, 4), scaled(0.5, 3)),
        "fed": data("FLOAT32", (8, 4)),
    }
    offsets = {"float": fixed("FLOAT32", (8,)), "int32": fixed("INT32", (8,), scaled(0.25)), "none": None}
    for kind in ("FLOAT32", "INT8", "UINT8", "INT16"):
        for kernel, weights in kernels.items():
            for name, offset in offsets.items():
                label = f"FULLY_CONNECTED {kind}, {kernel} weights, {name} bias"
                given = [data(kind, (2, 4)), weights, offset]
                yield label, model("FULLY_CONNECTED", given, [data(kind, (2, 8))], "FullyConnected")
    for kind in ("FLOAT32", "INT8", "UINT8", "INT16"):
        for turned in (False, True):
            shape = (2, 5, 4) if turned else (2, 4, 5)
            for right in (data(kind, shape), fixed("INT8", shape, scaled()), fixed("FLOAT32", shape)):
                given = [data(kind, (2, 3, 4)), right]
                label = f"BATCH_MATMUL {kind} {right['type']} {turned} {'values' in right}"
                yield (
                    label,
                    model("BATCH_MATMUL", given, [data(kind, (2, 3, 5))], "BatchMatMul", adj_y=turned),
                )


def shaping() -> Iterator[tuple[str, bytes]]:
    """Operators that move values."""
    for kind in KINDS[:4]:
        image = data(kind, (1, 4, 4, 2))
        flat, turned = [data(kind, (1, 32))], [image, ints(0, 2, 1, 3)]
        yield f"RESHAPE {kind}", model("RESHAPE", [image, ints(1, 32)], flat, "Reshape")
        yield f"TRANSPOSE {kind}", model("TRANSPOSE", turned, [image])
        pads = ints(0, 0, 1, 1, 1, 1, 0, 0, shape=(4, 2))
        yield f"PAD {kind}", model("PAD", [image, pads], [data(kind, (1, 6, 6, 2))])
        larger = [data(kind, (1, 8, 8, 2))]
        yield (
            f"RESIZE_BILINEAR {kind}",
            model("RESIZE_BILINEAR", [image, ints(8, 8)], larger, "ResizeBilinear"),
        )
        for operator, given, made, options in (
            ("DEPTH_TO_SPACE", (1, 2, 2, 4), (1, 4, 4, 1), "DepthToSpace"),
            ("SPACE_TO_DEPTH", (1, 4, 4, 2), (1, 2, 2, 8), "SpaceToDepth"),
        ):
            content = model(operator, [data(kind, given)], [data(kind, made)], options, block_size=2)
            yield f"{operator} {kind}", content


def joining() -> Iterator[tuple[str, bytes]]:
    """Tensors put together and taken apart, by all numbers around the delegate's limits."""
    for kind in KINDS[:4]:
        image = data(kind, (1, 4, 4, 2))
        for count in (1, 2, 4, 5, 6):
            whole = data(kind, (1, 4, 4, 2 * count))
            label, options = f"CONCATENATION {count} {kind}", "Concatenation"
            yield label, model("CONCATENATION", [image] * count, [whole], options, axis=3)
            pieces = [data(kind, (1, 4, 4, 2)) for _ in range(count)]
            given = [ints(3, shape=()), whole]
            yield f"SPLIT {count} {kind}", model("SPLIT", given, pieces, "Split", num_splits=count)
        for size in ((1, 2, 2, 2), (-1, 2, 2, 2)):
            given = [image, ints(0, 0, 0, 0), ints(*size)]
            yield f"SLICE {size} {kind}", model("SLICE", given, [data(kind, (1, 2, 2, 2))], "Slice")
        for mask, stride in ((0, 1), (0, 2), (1, 1)):
            given = [image, ints(0, 0, 0, 0), ints(1, 4, 4, 2), ints(1, stride, 1, 1)]
            made = [data(kind, (1, 4 // stride, 4, 2)[mask:])]
            label = f"STRIDED_SLICE {mask} {stride} {kind}"
            yield label, model("STRIDED_SLICE", given, made, "StridedSlice", shrink_axis_mask=mask)


def reducing() -> Iterator[tuple[str, bytes]]:
    """Means, sums, poolings, softmax."""
    for kind in KINDS[:4]:
        image, row = data(kind, (1, 4, 4, 2)), data(kind, (1, 4))
        pooled, summed = [data(kind, (1, 1, 1, 2))], [data(kind, (1, 4, 4))]
        yield f"MEAN {kind}", model("MEAN", [image, ints(1, 2)], pooled, "Reducer", keep_dims=True)
        yield f"SUM {kind}", model("SUM", [image, ints(3)], summed, "Reducer")
        soft = data(kind, (1, 4), scale=1 / 256, zero=-128 if kind == "INT8" else 0)
        for beta in (1.0, 2.0):
            yield f"SOFTMAX {beta} {kind}", model("SOFTMAX", [row], [soft], "Softmax", beta=beta)
        for pool in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
            for window, stride in ((2, 2), (1, 2), (2, 3), (1, 1)):
                made = [data(kind, (1, -(-4 // stride), -(-4 // stride), 2))]
                sizes = {
                    "filter_width": window,
                    "filter_height": window,
                    "stride_w": stride,
                    "stride_h": stride,
                }
                label = f"{pool} {window} {stride} {kind}"
                yield label, model(pool, [image], made, "Pool2D", padding="SAME", **sizes)


def varieties() -> Iterator[tuple[str, bytes]]:
    """All of them, each with a name."""
    for family in (elementwise, conversions, layers, products, shaping, joining, reducing):
        yield from family()
