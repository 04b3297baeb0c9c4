"""Which operators the delegate takes, and the node of XNNPACK that each becomes: VisitNode of its source."""

from collections.abc import Callable
from dataclasses import dataclass

from outlive.kernels.xnnpack import elementwise, layers, reshaping
from outlive.kernels.xnnpack.checks import DelegateView, NotTaken

_ATTENTION = "odml.scaled_dot_product_attention"


@dataclass(frozen=True, slots=True)
class DelegatedOperator:
    """An operator the delegate may take: its checks, its xnn_node_type, the inputs that become values.

    The other inputs are parameters; None is all inputs are values. Without checks the partition decides.
    """

    accepts: Callable[[DelegateView], None] | None
    node: str = "unary_elementwise"
    data_inputs: tuple[int, ...] | None = None


_FLOAT_UNARY = """ABS CEIL COS EXP FLOOR GELU HARD_SWISH LOG NEG RELU RELU6 RELU_N1_TO_1 ROUND RSQRT SIN SQRT
SQUARE"""
_SUM = DelegatedOperator(elementwise.add_or_sub, "binary_elementwise")
_PAIR = DelegatedOperator(elementwise.binary_float, "binary_elementwise")
_REDUCTION = DelegatedOperator(reshaping.reduce, "reduce", (0,))
_COPY = DelegatedOperator(None, "copy")

# What is not here the delegate does not take; EXPAND_DIMS has a rule there, but a disabled one.
OPERATORS: dict[str, DelegatedOperator] = {
    **dict.fromkeys(_FLOAT_UNARY.split(), DelegatedOperator(elementwise.unary_float)),
    **dict.fromkeys(("LOGISTIC", "TANH"), DelegatedOperator(elementwise.unary)),
    **dict.fromkeys(("ADD", "SUB"), _SUM),
    **dict.fromkeys(("DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"), _PAIR),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"), _REDUCTION),
    **dict.fromkeys(("READ_VARIABLE", "ASSIGN_VARIABLE"), _COPY),
    "ELU": DelegatedOperator(elementwise.elu),
    "DEQUANTIZE": DelegatedOperator(elementwise.dequantize),
    "QUANTIZE": DelegatedOperator(elementwise.quantize),
    "LEAKY_RELU": DelegatedOperator(elementwise.leaky_relu),
    "MUL": DelegatedOperator(elementwise.multiply, "binary_elementwise"),
    "PRELU": DelegatedOperator(elementwise.prelu, "binary_elementwise"),
    "SOFTMAX": DelegatedOperator(elementwise.softmax, "softmax"),
    "CONCATENATION": DelegatedOperator(reshaping.concatenation, "concatenate"),
    "SPLIT": DelegatedOperator(reshaping.split, "even_split", (1,)),
    "PAD": DelegatedOperator(reshaping.pad, "static_constant_pad", (0,)),
    "RESHAPE": DelegatedOperator(reshaping.reshape, "static_reshape", (0,)),
    "RESIZE_BILINEAR": DelegatedOperator(reshaping.resize_bilinear, "static_resize_bilinear_2d", (0,)),
    "SLICE": DelegatedOperator(reshaping.slice_, "static_slice", (0,)),
    "STRIDED_SLICE": DelegatedOperator(reshaping.strided_slice, "static_slice", (0,)),
    "TRANSPOSE": DelegatedOperator(reshaping.transpose, "static_transpose", (0,)),
    "DEPTH_TO_SPACE": DelegatedOperator(reshaping.depth_to_space, "depth_to_space_2d"),
    "SPACE_TO_DEPTH": DelegatedOperator(reshaping.space_to_depth, "space_to_depth_2d"),
    "CONV_2D": DelegatedOperator(layers.conv_2d, "convolution_2d"),
    "DEPTHWISE_CONV_2D": DelegatedOperator(layers.depthwise_conv_2d, "depthwise_convolution_2d"),
    "FULLY_CONNECTED": DelegatedOperator(layers.fully_connected, "fully_connected"),
    "BATCH_MATMUL": DelegatedOperator(layers.batch_matmul, "batch_matrix_multiply"),
    "TRANSPOSE_CONV": DelegatedOperator(layers.transpose_conv, "deconvolution_2d", (2, 1, 3)),
    "AVERAGE_POOL_2D": DelegatedOperator(layers.average_pool_2d, "average_pooling_2d"),
    "MAX_POOL_2D": DelegatedOperator(layers.max_pool_2d, "max_pooling_2d"),
}
CUSTOM_OPERATORS: dict[str, DelegatedOperator] = {
    "Convolution2DTransposeBias": DelegatedOperator(layers.deconvolution, "deconvolution_2d"),
    "MaxPoolingWithArgmax2D": DelegatedOperator(layers.pool_with_indices, "argmax_pooling_2d"),
    "MaxUnpooling2D": DelegatedOperator(layers.pool_with_indices, "unpooling_2d"),
    _ATTENTION: DelegatedOperator(layers.attention),
}


def refusal(view: DelegateView) -> str:
    """Why the delegate leaves this operator to the runtime, in words; "" if it takes it.

    Variables are not judged here: whether READ_VARIABLE and ASSIGN_VARIABLE are taken depends on each other.
    """
    operator = view.operator
    if operator.type == "CUSTOM":
        found = CUSTOM_OPERATORS.get(operator.custom_name)
    elif operator.type == "STABLEHLO_COMPOSITE" and view.option("name", "") == _ATTENTION:
        found = CUSTOM_OPERATORS[_ATTENTION]
    else:
        found = OPERATORS.get(operator.type)
    if found is None or found.accepts is None:
        return f"the delegate has no {operator.name}"
    try:
        found.accepts(view)
    except NotTaken as reason:
        return str(reason)
    return ""
