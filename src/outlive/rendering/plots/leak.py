"""The picture of growth: a curve for each stage, memory over rounds, with the warm-up and the rate in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from outlive.growth.growth import LEAKS, CycleGrowth, Growth
from outlive.growth.trend import WARM_UP_SHARE
from outlive.names import safe
from outlive.rendering.picture import GREY, HEIGHT, INK, RED, WIDTH, LineMark, Mark, RectMark, TextMark, grid
from outlive.units import format_bytes

_LEFT, _RIGHT, _TOP, _BOTTOM, _GAP = 100, 30, 60, 40, 46
_CURVES = (("held_bytes", "#4e79a7"), ("heap_bytes", "#f28e2b"), ("mapped_bytes", "#b6992d"))
_WORDS = {"held_bytes": "memory in RAM", "heap_bytes": "native heap", "mapped_bytes": "mapped memory"}
_MOST_POINTS = 300
# What goes up and down by a few pages is to look flat.
_LEAST_SPAN = 1 << 18


def marks(growth: Growth) -> Iterator[Mark]:
    """A panel for each stage."""
    yield TextMark(_LEFT, 30, f"{safe(growth.what, 80)}: {growth.verdict}", 16)
    stages = [stage for stage in growth.stages if len(stage.rounds) > 1]
    if not stages:
        yield TextMark(_LEFT, _TOP + 20, "nothing was measured", 12)
        return
    tall = (HEIGHT - _TOP - _BOTTOM) / len(stages)
    for number, stage in enumerate(stages):
        yield from _panel(stage, _TOP + number * tall, tall - _GAP)


def _panel(stage: CycleGrowth, top: float, tall: float) -> Iterator[Mark]:
    """One stage: what each quantity gained since the first round."""
    curves = [(name, colour, _gains(stage, name)) for name, colour in _CURVES]
    curves = [(name, colour, points) for name, colour, points in curves if points]
    lowest = min((value for _, _, points in curves for _, value in points), default=0)
    highest = max((value for _, _, points in curves for _, value in points), default=0)
    span = max(_LEAST_SPAN, highest - lowest)
    across = WIDTH - _LEFT - _RIGHT
    calls = stage.rounds[-1].calls
    yield RectMark(
        _LEFT, top + 8, across * WARM_UP_SHARE, tall - 8, "#f4f4f4", "warm-up, left out of the rate"
    )
    yield TextMark(_LEFT, top + 2, f"cycle {stage.cycle}: {safe(str(stage), 110)}", 12, colour=_title(stage))
    amounts = [format_bytes(lowest + span * half // 2) for half in range(3)]
    yield from grid(_LEFT, WIDTH - _RIGHT, top + 8, tall - 8, amounts)
    yield TextMark(WIDTH - _RIGHT, top + tall + 14, f"{calls:,} rounds", 10, "end", GREY)
    for place, (name, colour, points) in enumerate(curves):
        yield TextMark(_LEFT + 130 * place, top + tall + 14, _WORDS[name], 10, colour=colour)
        spots = [
            (_LEFT + across * x / calls, top + tall - (tall - 8) * (y - lowest) / span) for x, y in points
        ]
        yield from (LineMark(*a, *b, colour) for a, b in pairwise(spots))


def _title(stage: CycleGrowth) -> str:
    return RED if stage.verdict == LEAKS else INK


def _gains(stage: CycleGrowth, name: str) -> Sequence[tuple[int, int]]:
    values = [(row.calls, getattr(row, name)) for row in stage.rounds]
    if any(value is None for _, value in values):
        return ()
    # Every so many points, and always the last.
    kept = values[:: max(1, len(values) // _MOST_POINTS)]
    kept = kept if kept[-1] == values[-1] else [*kept, values[-1]]
    return [(calls, value - values[0][1]) for calls, value in kept]
