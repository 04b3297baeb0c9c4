"""Operators that work element by element."""

from __future__ import annotations

import math

from outlive.kernels.litert.kernel import (
    HeapUse,
    Home,
    LiteRTKernel,
    PreparedOutputs,
    Slots,
    always,
    as_first_input,
    folded,
    shaped,
    slot,
)
from outlive.kernels.litert.tensor_table import PACKED_TYPES, PreparedOutput, sparse_bytes
from outlive.kernels.litert.view import PrepareView, elements, require
from outlive.kernels.view import Shape


def broadcast(*shapes: Shape) -> Shape:
    """The shape that all of these stretch to: CalculateShapeForBroadcast, tflite/kernels/kernel_util.cc."""
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = []
    for sizes in zip(*padded, strict=True):
        others = {size for size in sizes if size != 1}
        require(len(others) <= 1)
        result.append(others.pop() if others else 1)
    return tuple(result)


def broadcast_inputs(view: PrepareView) -> PreparedOutputs:
    """Two inputs, stretched to one shape."""
    return shaped(broadcast(view.shape(0), view.shape(1)))


def _multiply(view: PrepareView) -> PreparedOutputs:
    """As any two, but computed at Prepare if both are known: tflite/kernels/mul.cc."""
    shape = broadcast(view.shape(0), view.shape(1))
    if not view.known(0, 1):
        return shaped(shape)
    left, right = view.readable(0), view.readable(1)
    values = None
    if left is not None and right is not None and len({len(left), len(right), 1}) <= 2:
        size = max(len(left), len(right))
        stretched = [row * size if len(row) == 1 else row for row in (left, right)]
        values = tuple(a * b for a, b in zip(*stretched, strict=True))
    return (PreparedOutput(shape=shape, values=values),)


def _select(view: PrepareView) -> PreparedOutputs:
    """Three inputs: SELECT wants one shape for both values, SELECT_V2 stretches: tflite/kernels/select.cc."""
    if all(math.prod(view.shape(position)) == 1 for position in (0, 1, 2)):
        return (PreparedOutput(),)  # a single element keeps the rank the file gives it
    if view.operator.type == "SELECT":
        return shaped(view.shape(1))
    return shaped(broadcast(view.shape(0), view.shape(1), view.shape(2)))


def _dequantize_home(view: PrepareView) -> Home:
    """Floats of a constant are kept for good: tflite/kernels/dequantize.cc."""
    return "persistent" if view.constant(0) else None


def _dequantize_heap(view: PrepareView) -> HeapUse:
    """A copy of the input, filled with zeros whether it is packed or not: tflite/kernels/dequantize.h."""
    source = view.needed(0)
    size = elements(view.shape_of(source)) if source.dtype in PACKED_TYPES else view.bytes(source)
    # PerChannelDequantize keeps a place in a vector: tflite/kernels/internal/reference/dequantize.h.
    small = source.quantization is not None and len(source.quantization.scales) > 1
    if view.constant(0):
        return HeapUse(once=size, with_small=small)
    return HeapUse(each=size, with_small=small)


def _densify_heap(view: PrepareView) -> HeapUse:
    """Where values go: tflite/kernels/internal/utils/sparsity_format_converter.cc."""
    return HeapUse(once=sparse_bytes(view.needed(0)))


def _add_n_temporaries(view: PrepareView) -> Slots:
    """One copy of the sum for each thread that gets two inputs: tflite/kernels/add_n.cc."""
    first = view.needed(0)
    threads = min(max(1, len(view.operator.inputs) // 2), max(view.threads, 1))
    return Slots(at_init=(slot((threads, elements(view.dims(first))), first.dtype, name="scratch"),))


_UNARY = """ABS CAST COS CUMSUM ELU GELU HARD_SWISH L2_NORMALIZATION LEAKY_RELU LOCAL_RESPONSE_NORMALIZATION
LOG LOGICAL_NOT LOGISTIC LOG_SOFTMAX QUANTIZE RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 REVERSE_SEQUENCE REVERSE_V2
RSQRT SIGN SIN SQRT SQUARE TANH BUCKETIZE COMPLEX_ABS REAL IMAG STABLEHLO_ADD STABLEHLO_MULTIPLY
STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_AND STABLEHLO_SCATTER"""
_UNARY_TYPED = "CEIL EXP FAKE_QUANT FLOOR MATRIX_SET_DIAG NEG ROUND STABLEHLO_SHIFT_LEFT ZEROS_LIKE"
_BINARY = "ATAN2 EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL NOT_EQUAL"
_BINARY_TYPED = """BITWISE_XOR FLOOR_DIV FLOOR_MOD LOGICAL_AND LOGICAL_OR MAXIMUM MINIMUM POW PRELU
RIGHT_SHIFT"""

KERNELS = {
    **dict.fromkeys(_UNARY.split(), LiteRTKernel(shapes=as_first_input)),
    **dict.fromkeys(_UNARY_TYPED.split(), LiteRTKernel(shapes=as_first_input, typed_by=0)),
    **dict.fromkeys(_BINARY.split(), LiteRTKernel(shapes=broadcast_inputs)),
    **dict.fromkeys(_BINARY_TYPED.split(), LiteRTKernel(shapes=broadcast_inputs, typed_by=0)),
    **dict.fromkeys(
        ("ADD", "DIV", "SUB"), LiteRTKernel(shapes=broadcast_inputs, typed_by=1, in_place=(0, 1))
    ),
    "SQUARED_DIFFERENCE": LiteRTKernel(shapes=broadcast_inputs, typed_by=1),
    "MUL": LiteRTKernel(shapes=_multiply, home=folded, in_place=(0, 1)),
    **dict.fromkeys(("SELECT", "SELECT_V2"), LiteRTKernel(shapes=_select, typed_by=1)),
    "SOFTMAX": LiteRTKernel(shapes=as_first_input, in_place=(0,)),
    "DYNAMIC_UPDATE_SLICE": LiteRTKernel(shapes=as_first_input, typed_by=0, in_place=(0,)),
    "ADD_N": LiteRTKernel(shapes=as_first_input, typed_by=0, temporaries=_add_n_temporaries),
    "DEQUANTIZE": LiteRTKernel(
        shapes=as_first_input, typed_by="float32", home=_dequantize_home, heap=_dequantize_heap
    ),
    # The dense twin of a sparse constant, kept for good: tflite/kernels/densify.cc.
    "DENSIFY": LiteRTKernel(shapes=as_first_input, typed_by=0, home=always("persistent"), heap=_densify_heap),
}
