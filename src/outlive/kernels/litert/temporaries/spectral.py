"""Temporaries of RFFT2D."""

from __future__ import annotations

import math

from outlive.kernels.litert.temporaries.filling import Unprepared, needed, produced, slot, values
from outlive.kernels.litert.temporary import Situation, Slots, Where


def rfft2d(situation: Situation) -> Slots | None:
    """Four work areas, doubles kept as int64: tflite/kernels/rfft2d.cc."""
    lengths = needed(situation, 1)
    late = not situation.constant_or_persistent(lengths.index)
    height, width = _lengths(situation)
    working = max(height, width // 2)
    where: Where = "heap" if late else "arena"
    return Slots(
        at_prepare=(
            slot((2 + math.isqrt(working),), "int32", where, name="fft_integer_area", at_invoke=late),
            slot((working // 2 + width // 4,), "int64", where, name="fft_double_area", at_invoke=late),
            slot((height,), "int64", where, name="fft_rows", at_invoke=late),
            slot((height, width + 2), "int64", where, name="fft_data", at_invoke=late),
        )
    )


def _lengths(situation: Situation) -> tuple[int, int]:
    """What the second input says, or what the output's shape implies."""
    known = values(needed(situation, 1))
    if known is not None and len(known) == 2 and min(known) > 0:
        return known[0], known[1]
    shape = situation.shape(produced(situation, 0))
    if len(shape) < 2 or min(shape) < 0:
        raise Unprepared("lengths of the transform are not known")
    return shape[-2], max(shape[-1] - 1, 0) * 2
