"""Reductions: MEAN, SUM, the REDUCE_ operators, ARG_MAX, ARG_MIN and window reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from outlive.kernels.litert.kernel import (
    Home,
    LiteRTKernel,
    PreparedOutputs,
    Slots,
    dynamic_unless_known,
    empty,
    shaped,
    slot,
)
from outlive.kernels.litert.tensor_table import Temporary, Where
from outlive.kernels.litert.view import PrepareView, Unprepared, axis_of, elements, require
from outlive.kernels.view import Shape

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
