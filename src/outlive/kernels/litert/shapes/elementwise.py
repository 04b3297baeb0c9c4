"""Shapes of operators that work element by element."""

from __future__ import annotations

import math

from outlive.kernels.litert.shapes.outcome import Outcome, Outcomes, Rule, View, need, shaped
from outlive.kernels.litert.tensor_table import Shape, Where


def broadcast(*shapes: Shape) -> Shape:
    """The shape that all of these stretch to: CalculateShapeForBroadcast, tflite/kernels/kernel_util.cc."""
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = []
    for sizes in zip(*padded, strict=True):
        others = {size for size in sizes if size != 1}
        need(len(others) <= 1)
        result.append(others.pop() if others else 1)
    return tuple(result)


def same(view: View) -> Outcomes:
    """As the first input."""
    return shaped(view.shape(0))


def binary(view: View) -> Outcomes:
    """Two inputs, stretched to one shape."""
    return shaped(broadcast(view.shape(0), view.shape(1)))


def multiply(view: View) -> Outcomes:
    """As any two, but computed at Prepare if both are known: tflite/kernels/mul.cc."""
    shape = broadcast(view.shape(0), view.shape(1))
    if not (view.known(0) and view.known(1)):
        return shaped(shape)
    left, right = view.table.values(view.index(0)), view.table.values(view.index(1))
    values = None
    if left is not None and right is not None and len({len(left), len(right), 1}) <= 2:
        size = max(len(left), len(right))
        stretched = [row * size if len(row) == 1 else row for row in (left, right)]
        values = tuple(a * b for a, b in zip(*stretched, strict=True))
    return (Outcome(shape=shape, where="readonly", values=values),)


def select(view: View) -> Outcomes:
    """Three inputs: SELECT wants one shape for both values, SELECT_V2 stretches: tflite/kernels/select.cc."""
    if all(math.prod(view.shape(position)) == 1 for position in (0, 1, 2)):
        return (Outcome(),)  # a single element keeps the rank the file gives it
    if view.operator.type == "SELECT":
        return shaped(view.shape(1))
    return shaped(broadcast(view.shape(0), view.shape(1), view.shape(2)))


def dequantize(view: View) -> Outcomes:
    """Floats; of a constant they are kept for good: tflite/kernels/dequantize.cc."""
    where: Where | None = "persistent" if view.constant(0) else None
    return (Outcome(shape=view.shape(0), dtype="float32", where=where),)


def densify(view: View) -> Outcomes:
    """The dense twin of a sparse constant, kept for good: tflite/kernels/densify.cc."""
    return (Outcome(shape=view.shape(0), where="persistent", dtype=view.dtype(0)),)


_UNARY = """ABS CAST CEIL COS CUMSUM ELU EXP FAKE_QUANT FLOOR GELU HARD_SWISH L2_NORMALIZATION LEAKY_RELU
LOCAL_RESPONSE_NORMALIZATION LOG LOGICAL_NOT LOGISTIC LOG_SOFTMAX NEG QUANTIZE RELU RELU6 RELU_0_TO_1
RELU_N1_TO_1 REVERSE_SEQUENCE REVERSE_V2 ROUND RSQRT SIGN SIN SOFTMAX SQRT SQUARE TANH ZEROS_LIKE
DYNAMIC_UPDATE_SLICE MATRIX_SET_DIAG ADD_N BUCKETIZE COMPLEX_ABS REAL IMAG STABLEHLO_ADD STABLEHLO_MULTIPLY
STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_AND STABLEHLO_SHIFT_LEFT STABLEHLO_SCATTER"""
_BINARY = """ADD ATAN2 BITWISE_XOR DIV EQUAL FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL
LOGICAL_AND LOGICAL_OR MAXIMUM MINIMUM NOT_EQUAL POW PRELU RIGHT_SHIFT SQUARED_DIFFERENCE SUB"""

RULES: dict[str, Rule] = {
    **dict.fromkeys(_UNARY.split(), same),
    **dict.fromkeys(_BINARY.split(), binary),
    "MUL": multiply,
    "SELECT": select,
    "SELECT_V2": select,
    "DEQUANTIZE": dequantize,
    "DENSIFY": densify,
}
