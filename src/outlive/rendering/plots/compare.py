"""The picture of a comparison: a bar per layer, how much error is born in it, and how much arrives in all.

steps │   ▂ █ ▂          red: born here, in steps of a grid that would just hold the values
      ├──────────> op
 dB   │ ▔▔▔▁▁▁▁          blue: signal to noise with what arrives from before
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from outlive.names import safe
from outlive.quant import Drift, TensorDrift
from outlive.rendering.picture import GREY, HEIGHT, INK, RED, WIDTH, LineMark, Mark, RectMark, TextMark

_LEFT, _RIGHT, _TOP, _GAP = 90, 20, 70, 60
_HALF = (HEIGHT - _TOP - _GAP - 50) / 2
_ACROSS = WIDTH - _LEFT - _RIGHT
_ARRIVED = "#7a9cc6"
_MOST_BARS = 800
_MOST_DECIBELS = 80.0


def marks(drift: Drift) -> Iterator[Mark]:
    """The picture as boxes, lines and words."""
    rows = [row for row in drift.tensors if row.op is not None][:_MOST_BARS]
    most = max((row.blame for row in rows if math.isfinite(row.blame)), default=0.0) or 1.0
    yield TextMark(_LEFT, 28, "where the error of quantization arises", 20, colour=INK)
    yield TextMark(_LEFT, 50, f"{len(rows)} layers, {drift.samples} samples", 13, colour=GREY)
    upper, lower = _TOP + _HALF, _TOP + _HALF + _GAP
    yield LineMark(_LEFT, upper, WIDTH - _RIGHT, upper, INK)
    yield LineMark(_LEFT, lower, WIDTH - _RIGHT, lower, INK)
    yield TextMark(_LEFT - 8, _TOP + 10, f"{most:.1f} steps", 12, "end", INK)
    yield TextMark(_LEFT - 8, upper, "0", 12, "end", INK)
    yield TextMark(_LEFT - 8, lower + _HALF, f"{_MOST_DECIBELS:.0f} dB", 12, "end", INK)
    width = _ACROSS / max(len(rows), 1)
    for place, row in enumerate(rows):
        yield from _bars(row, _LEFT + place * width, width, most)


def _bars(row: TensorDrift, left: float, width: float, most: float) -> Iterator[Mark]:
    upper, lower = _TOP + _HALF, _TOP + _HALF + _GAP
    name = f"op {row.op} {row.op_type} {safe(row.name, 80)}"
    high = _HALF * min(row.blame / most, 1.0) if math.isfinite(row.blame) else 0.0
    if high > 0:
        yield RectMark(
            left, upper - high, width, high, RED, f"{name}: {row.blame:.2f} steps added here", True
        )
    if row.metrics is not None and not math.isnan(row.metrics.sqnr_db):  # what is not finite is a gap
        decibels = max(0.0, min(row.metrics.sqnr_db, _MOST_DECIBELS))
        deep = _HALF * decibels / _MOST_DECIBELS
        yield RectMark(left, lower, width, deep, _ARRIVED, f"{name}: {row.metrics.sqnr_db:.1f} dB", True)
