"""Does the delegate take this operator? One rule per operator, and why not where it does not."""

from __future__ import annotations

from collections.abc import Callable

from outlive.kernels.xnnpack import checks, layers
from outlive.kernels.xnnpack import elementwise as values
from outlive.kernels.xnnpack import reshaping as shapes
from outlive.kernels.xnnpack.datatypes import Sight

Rule = Callable[[Sight], str]

_FLOAT_UNARY = (
    *("ABS", "CEIL", "COS", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LOG", "NEG"),
    *("RELU", "RELU6", "RELU_N1_TO_1", "ROUND", "RSQRT", "SIN", "SQRT", "SQUARE"),
)

# VisitNode. What is not here the delegate does not take; EXPAND_DIMS has a rule there, but a disabled one.
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_FLOAT_UNARY, values.unary_float),
    **dict.fromkeys(("LOGISTIC", "TANH"), values.unary),
    **dict.fromkeys(("ADD", "SUB"), values.add_or_sub),
    **dict.fromkeys(("DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"), values.binary_float),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"), shapes.reduce),
    "ELU": values.elu,
    "DEQUANTIZE": values.dequantize,
    "QUANTIZE": values.quantize,
    "LEAKY_RELU": values.leaky_relu,
    "MUL": values.multiply,
    "PRELU": values.prelu,
    "SOFTMAX": values.softmax,
    "CONCATENATION": shapes.concatenation,
    "SPLIT": shapes.split,
    "PAD": shapes.pad,
    "RESHAPE": shapes.reshape,
    "RESIZE_BILINEAR": shapes.resize_bilinear,
    "SLICE": shapes.slice_,
    "STRIDED_SLICE": shapes.strided_slice,
    "TRANSPOSE": shapes.transpose,
    "DEPTH_TO_SPACE": shapes.depth_to_space,
    "SPACE_TO_DEPTH": shapes.space_to_depth,
    "CONV_2D": layers.conv_2d,
    "DEPTHWISE_CONV_2D": layers.depthwise_conv_2d,
    "FULLY_CONNECTED": layers.fully_connected,
    "BATCH_MATMUL": layers.batch_matmul,
    "TRANSPOSE_CONV": layers.transpose_conv,
    "AVERAGE_POOL_2D": layers.average_pool_2d,
    "MAX_POOL_2D": layers.max_pool_2d,
}


def refusal(sight: Sight) -> str:
    """Why the delegate leaves this operator to the runtime, in words; "" if it takes it.

    Variables are not judged here: whether READ_VARIABLE and ASSIGN_VARIABLE are taken depends on each other.
    """
    name = sight.operator.type
    if name == "CUSTOM":
        return _CUSTOM_RULES.get(sight.operator.custom_name, _unknown)(sight)
    if name == "STABLEHLO_COMPOSITE" and checks.option(sight, "name", "") == _ATTENTION:
        return attention(sight)
    return _RULES.get(name, _unknown)(sight)


def _unknown(sight: Sight) -> str:
    return f"the delegate has no {sight.operator.name}"


def attention(sight: Sight) -> str:
    """VisitDotAttentionNode."""
    given = [sight.input(position) for position in range(len(sight.operator.inputs))]
    reason = checks.is_float32(*given, sight.output())
    if reason or len(given) < 3:
        return reason or "it has too few inputs"
    depths = {sight.shape(tensor)[-1:] for tensor in given[:3] if tensor is not None}
    return "" if len(depths) == 1 else "query, key and value differ in depth"


def _deconvolution(sight: Sight) -> str:
    data, kernel, offset = (sight.input(position) for position in range(3))
    return (
        checks.counts(sight, (3, 3))
        or checks.is_float32(data, kernel, offset, sight.output())
        or checks.dimensions(sight, data, 4)
        or checks.dimensions(sight, kernel, 4)
        or checks.dimensions(sight, offset, 1)
        or checks.static(sight, kernel, offset, unpacked=True)
        or checks.dimensions(sight, sight.output(), 4)
    )


def _pool_with_indices(sight: Sight) -> str:
    inputs, outputs = (1, 2) if sight.operator.custom_name == "MaxPoolingWithArgmax2D" else (2, 1)
    return (
        checks.counts(sight, (inputs, inputs), (outputs, outputs))
        or checks.is_float32(sight.input(0), sight.output())
        or checks.dimensions(sight, sight.input(0), 4)
        or checks.dimensions(sight, sight.output(), 4)
    )


_ATTENTION = "odml.scaled_dot_product_attention"
_CUSTOM_RULES: dict[str, Rule] = {
    "Convolution2DTransposeBias": _deconvolution,
    "MaxPoolingWithArgmax2D": _pool_with_indices,
    "MaxUnpooling2D": _pool_with_indices,
    _ATTENTION: attention,
}
