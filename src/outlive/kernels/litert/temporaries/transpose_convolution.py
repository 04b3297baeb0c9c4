"""Temporaries of TRANSPOSE_CONV and CONV_3D_TRANSPOSE: mostly heap, not arena."""

from __future__ import annotations

from outlive.kernels.litert.temporaries.filling import (
    Unprepared,
    dims,
    elements,
    needed,
    number,
    produced,
    slot,
    values,
    word,
)
from outlive.kernels.litert.temporary import Situation, Slots, Temporary
from outlive.model import Tensor

_OUTPUT_SHAPE, _WEIGHTS, _SOURCE = 0, 1, 2


def transpose_conv(situation: Situation) -> Slots | None:
    """Col2im, transposed weights and sums on the heap, hybrid scratch in the arena.

    The output's shape must be a constant of the file (IsConstantTensor) to be known at Prepare:
    tflite/kernels/transpose_conv.cc.
    """
    weights, source = needed(situation, _WEIGHTS), needed(situation, _SOURCE)
    shape, filters = dims(situation, source, 4), dims(situation, weights, 4)
    unknown = not situation.constant(needed(situation, _OUTPUT_SHAPE).index)
    slots: list[Temporary] = []
    if not situation.reference:
        columns = (elements(shape[1:3]), elements(filters[:3]))
        slots.append(slot(columns, "float32", "heap", name="col2im", at_invoke=unknown))
        late = not situation.constant(weights.index)
        slots.append(slot(filters, weights.dtype, "heap", name="transposed_weights", at_invoke=late))
    if source.dtype in ("uint8", "int8", "int16"):
        sums = output_shape(situation)
        slots.append(slot(sums, _sum_type(situation, source), "heap", name="scratch", at_invoke=unknown))
    if source.dtype == "float32" and weights.dtype == "int8":
        slots += _hybrid(shape, filters[3])
    return Slots(at_prepare=tuple(slots))


def output_shape(situation: Situation) -> tuple[int, ...]:
    """The shape the first input asks for, or, where that is not a constant, the output's own."""
    asked = needed(situation, _OUTPUT_SHAPE)
    known = values(asked) if situation.constant(asked.index) else None
    if known is not None:
        return known
    return tuple(max(size, 0) for size in situation.shape(produced(situation, 0)))


def _sum_type(situation: Situation, source: Tensor) -> str:
    if source.dtype != "int16":
        return "int32"
    chosen = word(situation, "quantized_bias_type").lower()
    return chosen if chosen in ("int32", "int64") else "int64"


def _hybrid(shape: tuple[int, ...], channels: int) -> list[Temporary]:
    if not channels:
        raise Unprepared("no channels")
    rows = elements(shape) // channels
    return [
        slot(shape, "int8", name="input_quantized"),
        slot((rows,), "float32", name="scaling_factors"),
        slot((rows,), "int32", name="input_offsets"),
    ]


def conv_3d_transpose(situation: Situation) -> Slots | None:
    """Col2im on the heap; dilated ones run the reference kernel: tflite/kernels/conv3d_transpose.cc."""
    weights, source = needed(situation, _WEIGHTS), needed(situation, _SOURCE)
    shape, filters = dims(situation, source, 5), dims(situation, weights, 5)
    dilated = any(number(situation, f"dilation_{axis}_factor") > 1 for axis in "dhw")
    if situation.reference or dilated:
        return Slots()
    unknown = not situation.constant_or_persistent(needed(situation, _OUTPUT_SHAPE).index)
    columns = (elements(shape[1:4]), elements(filters[:4]))
    return Slots(at_prepare=(slot(columns, "float32", "heap", name="col2im", at_invoke=unknown),))
