"""Convolutions, matrix products and reductions in all their types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.against_runtime.temporaries_models import (
    Case,
    Given,
    constant,
    given,
    graph,
    model,
    numbers,
    single,
    sparse,
    step,
)

ONE = (1.0,)


def differing(count: int) -> tuple[float, ...]:
    return tuple(0.5 + 0.25 * index for index in range(count))


# Activations, filter, bias; scales of the filter by its number of channels.
Scales = Callable[[int], tuple[float, ...]]
CONVOLVED: dict[str, tuple[str, str, str, Scales]] = {
    "float": ("FLOAT32", "FLOAT32", "FLOAT32", lambda n: ()),
    "int8": ("INT8", "INT8", "INT32", differing),
    "int8_int4": ("INT8", "INT4", "INT32", differing),
    "uint8": ("UINT8", "UINT8", "INT32", lambda n: ONE),
    "int16": ("INT16", "INT8", "INT64", differing),
    "hybrid": ("FLOAT32", "INT8", "FLOAT32", lambda n: ONE),
    "hybrid_same": ("FLOAT32", "INT8", "FLOAT32", lambda n: ONE * n),
    "hybrid_channels": ("FLOAT32", "INT8", "FLOAT32", differing),
    "hybrid_int4": ("FLOAT32", "INT4", "FLOAT32", differing),
    "hybrid_uint8": ("FLOAT32", "UINT8", "FLOAT32", lambda n: ONE),
}
# Window, stride, dilation, padding, channels of the filter.
WINDOWS = {
    "1x1": (1, 1, 1, "SAME", 4),
    "1x1_strided": (1, 2, 1, "SAME", 4),
    "3x3": (3, 1, 1, "SAME", 4),
    "3x3_strided": (3, 2, 1, "VALID", 4),
    "3x3_dilated": (3, 1, 2, "VALID", 4),
    "3x3_grouped": (3, 1, 1, "SAME", 2),
}


def _activation(kind: str, *shape: int) -> Given:
    return given(kind, *shape, scales=() if kind == "FLOAT32" else ONE)


def _bias(kind: str, count: int) -> Given:
    return constant(kind, count, scales=() if kind == "FLOAT32" else ONE)


def _out(padding: str, size: int, window: int, stride: int, dilation: int) -> int:
    return -(-size // stride) if padding == "SAME" else (size - (window - 1) * dilation - 1) // stride + 1


def convolutions() -> Iterator[Case]:
    for types, (kind, weights, bias, scales) in CONVOLVED.items():
        for form, (window, stride, dilation, padding, channels) in WINDOWS.items():
            out = [_out(padding, size, window, stride, dilation) for size in (9, 7)]
            if channels == 2 and len(scales(6)) == 1 and kind != weights:
                continue  # the runtime wants a scale per channel of a grouped one
            yield (
                f"conv_{types}_{form}",
                single(
                    "CONV_2D",
                    [
                        _activation(kind, 2, 9, 7, 4),
                        constant(weights, 6, window, window, channels, scales=scales(6)),
                        _bias(bias, 6),
                    ],
                    [_activation(kind, 2, *out, 6)],
                    "Conv2D",
                    padding=padding,
                    stride_h=stride,
                    stride_w=stride,
                    dilation_h_factor=dilation,
                    dilation_w_factor=dilation,
                ),
            )


def filters() -> Iterator[Case]:
    """Filters that are no constants of the file: fed, dequantized, reshaped from one."""
    source, output = given("FLOAT32", 1, 5, 5, 2), given("FLOAT32", 1, 5, 5, 3)
    unit: Any = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
    fed = [source, given("FLOAT32", 3, 3, 3, 2), constant("FLOAT32", 3)]
    yield "conv_filter_fed", single("CONV_2D", fed, [output], "Conv2D", **unit)
    half = [
        source,
        constant("FLOAT16", 3, 3, 3, 2),
        Given("FLOAT32", (3, 3, 3, 2), computed=True),
        constant("FLOAT32", 3),
        output,
    ]
    steps = [step(0, [1], [2], "Dequantize"), step(1, [0, 2, 3], [4], "Conv2D", **unit)]
    yield "conv_filter_dequantized", model(["DEQUANTIZE", "CONV_2D"], [graph(half, steps, [4])], [half])
    folded = [
        source,
        constant("FLOAT32", 27, 2),
        numbers(3, 3, 3, 2),
        Given("FLOAT32", (3, 3, 3, 2), computed=True),
        constant("FLOAT32", 3),
        output,
    ]
    steps = [step(0, [1, 2], [3], "Reshape"), step(1, [0, 3, 4], [5], "Conv2D", **unit)]
    yield "conv_filter_folded", model(["RESHAPE", "CONV_2D"], [graph(folded, steps, [5])], [folded])


def depthwise() -> Iterator[Case]:
    for types in ("float", "int8", "int8_int4", "uint8", "int16", "hybrid_channels"):
        kind, weights, bias, scales = CONVOLVED[types]
        yield (
            f"depthwise_{types}",
            single(
                "DEPTHWISE_CONV_2D",
                [
                    _activation(kind, 2, 6, 6, 4),
                    constant(weights, 1, 3, 3, 4, scales=scales(4), axis=3),
                    _bias(bias, 4),
                ],
                [_activation(kind, 2, 6, 6, 4)],
                "DepthwiseConv2D",
                padding="SAME",
                stride_h=1,
                stride_w=1,
                depth_multiplier=1,
            ),
        )


def volumes() -> Iterator[Case]:
    for window, stride, dilation in ((1, 1, 1), (3, 1, 1), (1, 2, 1), (2, 1, 2)):
        out = [_out("VALID", size, window, stride, dilation) for size in (5, 6, 7)]
        options: Any = {f"stride_{axis}": stride for axis in "dhw"}
        options |= {f"dilation_{axis}_factor": dilation for axis in "dhw"}
        weights = constant("FLOAT32", window, window, window, 2, 3)
        small, large = given("FLOAT32", 2, *out, 3), given("FLOAT32", 2, 5, 6, 7, 2)
        inputs = [large, weights, constant("FLOAT32", 3)]
        name = f"{window}_{stride}_{dilation}"
        yield f"conv3d_{name}", single("CONV_3D", inputs, [small], "Conv3D", padding="VALID", **options)
        shape = numbers(2, 5, 6, 7, 2)
        fed = given("INT32", 5)
        for known, asked in (("known", shape), ("fed", fed)):
            back = [asked, constant("FLOAT32", window, window, window, 2, 3), small]
            yield (
                f"conv3d_transpose_{name}_{known}",
                single("CONV_3D_TRANSPOSE", back, [large], "Conv3D", padding="VALID", **options),
            )


def transposed() -> Iterator[Case]:
    for types in ("float", "int8", "uint8", "int16", "hybrid", "hybrid_channels"):
        kind, weights, bias, scales = CONVOLVED[types]
        for form, shape in (("known", numbers(2, 8, 6, 5)), ("fed", given("INT32", 4))):
            for bias_type in ("FLOAT32", "INT32", "INT64") if types == "int16" else ("FLOAT32",):
                filters = constant(weights, 5, 3, 3, 4, scales=scales(5))
                held = _bias("INT32" if bias_type == "INT32" else bias, 5)
                yield (
                    f"transpose_conv_{types}_{form}_{bias_type}",
                    single(
                        "TRANSPOSE_CONV",
                        [shape, filters, _activation(kind, 2, 4, 3, 4), held],
                        [_activation(kind, 2, 8, 6, 5)],
                        "TransposeConv",
                        padding="SAME",
                        stride_h=2,
                        stride_w=2,
                        quantized_bias_type=bias_type,
                    ),
                )
    fed = [numbers(1, 8, 6, 5), given("FLOAT32", 5, 3, 3, 4), given("FLOAT32", 1, 4, 3, 4)]
    options: Any = {"padding": "SAME", "stride_h": 2, "stride_w": 2}
    output = given("FLOAT32", 1, 8, 6, 5)
    yield "transpose_conv_weights_fed", single("TRANSPOSE_CONV", fed, [output], "TransposeConv", **options)


CONNECTED = {
    "float": ("FLOAT32", "FLOAT32", "FLOAT32", ()),
    "int8": ("INT8", "INT8", "INT32", ONE),
    "uint8": ("UINT8", "UINT8", "INT32", ONE),
    "int16": ("INT16", "INT8", "INT64", ONE),
    "hybrid": ("FLOAT32", "INT8", "FLOAT32", ONE),
    "hybrid_uint8": ("FLOAT32", "UINT8", "FLOAT32", ONE),
    "hybrid_int4": ("FLOAT32", "INT4", "FLOAT32", ONE),
    "hybrid_int2": ("FLOAT32", "INT2", "FLOAT32", ONE),
}


def connected() -> Iterator[Case]:
    for types, (kind, weights, bias, scales) in CONNECTED.items():
        for batch, depth, units in ((1, 64, 8), (2, 34, 5), (3, 40, 7), (7, 33, 9), (4, 16, 4), (2, 64, 3)):
            yield (
                f"connected_{types}_{batch}_{depth}_{units}",
                single(
                    "FULLY_CONNECTED",
                    [
                        _activation(kind, batch, depth),
                        constant(weights, units, depth, scales=scales),
                        _bias(bias, units),
                    ],
                    [_activation(kind, batch, units)],
                    "FullyConnected",
                ),
            )
    fed = [given("FLOAT32", 2, 3, 4), given("INT8", 5, 4, scales=ONE), None]
    output = given("FLOAT32", 2, 3, 5)
    yield "connected_fed", single("FULLY_CONNECTED", fed, [output], "FullyConnected", keep_num_dims=True)
    for kind in ("FLOAT32", "INT8"):
        matrix = constant(
            kind, 6, 16, sparsity=sparse(6, 16), stored=6, scales=() if kind == "FLOAT32" else ONE
        )
        inputs = [given("FLOAT32", 2, 16), matrix, constant("FLOAT32", 6)]
        sparse_output = given("FLOAT32", 2, 6)
        yield f"connected_sparse_{kind}", single("FULLY_CONNECTED", inputs, [sparse_output], "FullyConnected")


def products() -> Iterator[Case]:
    for name, kind, other, scales in (
        ("float", "FLOAT32", "FLOAT32", ()),
        ("int8", "INT8", "INT8", ONE),
        ("int16", "INT16", "INT16", ONE),
        ("hybrid", "FLOAT32", "INT8", ONE),
    ):
        for adj_x, adj_y in ((False, False), (True, True)):
            left = (2, 3, 7, 5) if adj_x else (2, 3, 5, 7)
            right = (3, 9, 7) if adj_y else (3, 7, 9)
            for form in ("fed", "known"):
                second = Given(other, right, constant=form == "known", scales=scales)
                inputs = [_activation(kind, *left), second]
                outputs = [_activation(kind, 2, 3, 5, 9)]
                built = single("BATCH_MATMUL", inputs, outputs, "BatchMatMul", adj_x=adj_x, adj_y=adj_y)
                yield f"matmul_{name}_{'adj_' if adj_x else ''}{form}", built


def reduced() -> Iterator[Case]:
    kinds = {"MEAN": ("FLOAT32", "INT32", "INT64", "INT8", "UINT8", "INT16"), "REDUCE_ANY": ("BOOL",)}
    kinds |= {
        "SUM": ("FLOAT32", "INT8", "INT32"),
        "REDUCE_ALL": ("BOOL",),
        "REDUCE_PROD": ("FLOAT32", "INT8"),
    }
    kinds |= {"REDUCE_MAX": ("FLOAT32", "INT8"), "REDUCE_MIN": ("FLOAT32",)}
    for code, types in kinds.items():
        for kind in types:
            scales = ONE if kind in ("INT8", "UINT8", "INT16") else ()
            for form in ("known", "fed", "folded"):
                axis = given("INT32", 2) if form == "fed" else numbers(1, -1)
                source = Given(kind, (2, 3, 4, 5), scales=scales, constant=form == "folded")
                output = Given(kind, (2, 4), scales=scales)
                yield f"{code}_{kind}_{form}", single(code, [source, axis], [output], "Reducer")
    kept = [given("FLOAT32", 2, 3, 40, 5), numbers(1, 3)]
    yield "MEAN_kept", single("MEAN", kept, [given("FLOAT32", 2, 1, 40, 1)], "Reducer", keep_dims=True)
    large = [constant("FLOAT32", 3, 9), numbers(0)]
    yield "REDUCE_PROD_folded_large", single("REDUCE_PROD", large, [given("FLOAT32", 9)], "Reducer")


def all_cases() -> Iterator[Case]:
    """Every model here, with its name."""
    for group in (convolutions, filters, depthwise, volumes, transposed, connected, products, reduced):
        yield from group()
