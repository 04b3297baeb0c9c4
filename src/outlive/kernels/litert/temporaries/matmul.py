"""Temporaries of BATCH_MATMUL: seven slots, two of them for the transposed sides, five for hybrid ones."""

from __future__ import annotations

from dataclasses import replace

from outlive.kernels.litert.temporaries.filling import Unprepared, dims, elements, empty, needed, number, slot
from outlive.kernels.litert.temporary import Situation, Slots, Temporary, Where

_SLOTS = 7


def batch_matmul(situation: Situation) -> Slots | None:
    """Both sides transposed, needed or not; a constant one for good: tflite/kernels/batch_matmul.cc."""
    left, right = needed(situation, 0), needed(situation, 1)
    left_shape, right_shape = dims(situation, left), dims(situation, right)
    if len(left_shape) < 2 or len(right_shape) < 2:
        raise Unprepared("a matrix of less than two dimensions")
    where: Where = "persistent" if situation.constant(right.index) else "arena"
    filled = [
        replace(
            slot(left_shape, left.dtype, name="transposed_lhs"), written=bool(number(situation, "adj_x"))
        ),
        replace(
            slot(right_shape, right.dtype, where, name="transposed_rhs"),
            written=not number(situation, "adj_y"),
        ),
    ]
    if left.dtype == "float32" and right.dtype == "int8":
        filled += _hybrid(situation, left_shape, right_shape)
    spare = (empty(),) * (_SLOTS - len(filled))
    return Slots(at_prepare=(*filled, *spare), order=tuple(range(len(filled))))


def _hybrid(situation: Situation, left: tuple[int, ...], right: tuple[int, ...]) -> list[Temporary]:
    rows = left[-1] if number(situation, "adj_x") else left[-2]
    units = right[-2] if number(situation, "adj_y") else right[-1]
    quantized = elements((*left[:-2], rows))
    return [
        slot(left, "int8", name="input_quantized"),
        slot((quantized,), "float32", name="scaling_factors"),
        slot((units, rows), "int32", name="accum_scratch"),
        slot((quantized,), "int32", name="input_offsets"),
        slot((*right[:-2], units), "int32", "persistent", name="row_sums"),
    ]
