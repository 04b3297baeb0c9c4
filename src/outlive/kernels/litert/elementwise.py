"""Operators that work element by element.

Reductions: MEAN, SUM, the REDUCE_ operators, ARG_MAX, ARG_MIN and window reductions.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from outlive.kernels.litert.kernel import (
    HeapUse,
    Home,
    LiteRTKernel,
    PreparedOutputs,
    Slots,
    always,
    as_first_input,
    dynamic_unless_known,
    empty,
    folded,
    shaped,
    slot,
)
from outlive.kernels.litert.tensor_table import PACKED_TYPES, PreparedOutput, Temporary, Where, sparse_bytes
from outlive.kernels.litert.view import PrepareView, Unprepared, axis_of, elements, require
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


# The type sums and products are kept in: InitializeTemporaries in tflite/kernels/reduce.cc.
_ACCUMULATOR = {
    "float32": "float32",
    "int32": "int64",
    "int64": "int64",
    "uint8": "int32",
    "int8": "int32",
    "int16": "int32",
    "bool": "bool",
}
# kMaxConstantOutputTensorSize: a product of constants with at most as many elements is computed at Prepare.
_MOST_CONSTANT_ELEMENTS = 8


def _reduced(view: PrepareView) -> Shape:
    """Without the sides that are reduced over: tflite/kernels/reduce.cc."""
    source = view.shape(0)
    gone = {axis + len(source) if axis < 0 else axis for axis in view.values(1)}
    if view.number("keep_dims"):
        return tuple(1 if axis in gone else size for axis, size in enumerate(source))
    return tuple(size for axis, size in enumerate(source) if axis not in gone)


def _reduced_shape(view: PrepareView) -> PreparedOutputs:
    rank = len(view.shape(0))
    require(not rank or all(-rank <= axis < rank for axis in view.values(1)))
    return shaped(_reduced(view))


def _product_home(view: PrepareView) -> Home:
    """A small product of known values is computed at Prepare: PrepareProd."""
    if not view.known(1):
        return "dynamic"
    return "readonly" if view.known(0) and math.prod(_reduced(view)) <= _MOST_CONSTANT_ELEMENTS else None


def _product_shape(view: PrepareView) -> PreparedOutputs:
    (output,) = _reduced_shape(view)
    values = view.readable(0) if view.known(0) else None
    whole = None if values is None or math.prod(output.shape or ()) != 1 else (math.prod(values),)
    return (replace(output, values=whole),)


def _argument_shape(view: PrepareView) -> PreparedOutputs:
    """One side less: tflite/kernels/arg_min_max.cc."""
    source = view.shape(0)
    axis = axis_of(view.values(1)[0], len(source))
    return shaped((*source[:axis], *source[axis + 1 :]))


def _accumulator(view: PrepareView, where: Where, late: bool) -> Temporary:
    readable = not late and view.readable(1) is not None
    shape = _reduced(view) if readable else [max(size, 0) for size in view.shape_of(view.produced())]
    dtype = _ACCUMULATOR[view.needed(0).dtype]
    return slot((elements(shape),), dtype, where, name="temp_accum", at_invoke=late)


def _no_accumulator(view: PrepareView, where: Where, late: bool) -> Temporary:
    """The third slot is never filled: PrepareSimple and PrepareAllOrAny."""
    return empty()


def _sum_temporaries(view: PrepareView) -> Slots:
    """Index, axes, sums of the output's size, and the shape: PrepareMeanOrSum in tflite/kernels/reduce.cc."""
    return _four_slots(view, _accumulator)


def _extreme_temporaries(view: PrepareView) -> Slots:
    return _four_slots(view, _no_accumulator)


def _product_temporaries(view: PrepareView) -> Slots:
    """As a sum, but all on the heap where it is computed at Prepare: PrepareProd."""
    constant = view.known(0, 1) and elements(_reduced(view)) <= _MOST_CONSTANT_ELEMENTS
    return _four_slots(view, _accumulator, at_prepare=constant)


def _four_slots(
    view: PrepareView,
    accumulator: Callable[[PrepareView, Where, bool], Temporary],
    at_prepare: bool = False,
) -> Slots:
    source, axis = view.needed(0), view.needed(1)
    rank = (len(view.dims(source)),)
    if source.dtype not in _ACCUMULATOR:
        raise Unprepared(f"cannot reduce {source.dtype}")
    late, constant = not view.known(1), view.known(0)
    where: Where = "dynamic" if late or at_prepare else "arena"
    shape_where: Where = "dynamic" if not constant or at_prepare else "arena"
    axes = (elements(view.dims(axis)),)
    return Slots(
        at_prepare=(
            slot(rank, "int32", name="index"),
            slot(axes, "int32", where, name="resolved_axis", at_invoke=late),
            accumulator(view, where, late),
            slot(rank, "int32", shape_where, name="normalized_dims", at_invoke=not constant),
        )
    )


def _reduce_window_temporaries(view: PrepareView) -> Slots:
    """The dilated input, and that one padded or cropped: tflite/kernels/stablehlo_reduce_window.cc."""
    source = view.needed(0)
    shape = view.dims(source)
    dilations, padding = view.numbers("base_dilations"), view.numbers("padding")
    if len(dilations) != len(shape) or len(padding) != 2 * len(shape) or min((1, *dilations)) < 1:
        raise Unprepared("dilations or padding do not fit the input")
    dilated = [(size - 1) * step + 1 for size, step in zip(shape, dilations, strict=True)]
    padded = [size + padding[2 * axis] + padding[2 * axis + 1] for axis, size in enumerate(dilated)]
    return Slots(
        at_init=(slot(dilated, source.dtype, name="dilated"), slot(padded, source.dtype, name="padded"))
    )


_SUM = LiteRTKernel(shapes=_reduced_shape, home=dynamic_unless_known(1), temporaries=_sum_temporaries)
_EXTREME = LiteRTKernel(shapes=_reduced_shape, home=dynamic_unless_known(1), temporaries=_extreme_temporaries)
_ARGUMENT = LiteRTKernel(shapes=_argument_shape, home=dynamic_unless_known(1))

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
    "MEAN": _SUM,
    "SUM": _SUM,
    "REDUCE_MAX": _EXTREME,
    "REDUCE_MIN": _EXTREME,
    "REDUCE_ANY": _EXTREME,
    "REDUCE_ALL": _EXTREME,
    "REDUCE_PROD": LiteRTKernel(shapes=_product_shape, home=_product_home, temporaries=_product_temporaries),
    "ARG_MAX": _ARGUMENT,
    "ARG_MIN": _ARGUMENT,
    "REDUCE_WINDOW": LiteRTKernel(),
    "STABLEHLO_REDUCE_WINDOW": LiteRTKernel(temporaries=_reduce_window_temporaries),
}
