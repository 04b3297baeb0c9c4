"""The picture of a plan as boxes, lines and words: live bytes by operator above, the map of the arena below.

bytes │  ▂▄█▆▂            offset │ ██▓▓▓▓
      └────────> op              │ ░░░░██   a box per tensor: from its first to its last operator
                                 └────────> op
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outlive.arena.plan import OpLoad, Placement, Plan
from outlive.names import safe
from outlive.rendering.picture import GREY, HEIGHT, RED, WIDTH, Mark, RectMark, TextMark, grid
from outlive.units import format_bytes, plural

_LEFT, _RIGHT = 90, 20
_TOP, _BARS, _GAP = 70, 200, 60
_MAP = HEIGHT - _TOP - _BARS - _GAP - 50
_ACROSS = WIDTH - _LEFT - _RIGHT
# More boxes than this are too small to be seen, and make a file no program likes to open.
_MOST_BOXES = 4000
_MOST_BARS = 800
_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b6992d", "#499894", "#d37295", "#79706e", "#b07aa1")
_BAR_COLOUR = "#7a9cc6"


def marks(plan: Plan) -> tuple[Mark, ...]:
    """Everything there is to draw, in the order it is drawn."""
    return (*_title(plan), *_bars(plan), *_arena(plan))


def _title(plan: Plan) -> Iterator[Mark]:
    name = safe(plan.path or "model given as bytes", 90)
    yield TextMark(_LEFT, 28, name, 16)
    facts = [f"accelerator {plan.accelerator}"]
    if plan.arena_bytes is not None:
        facts.append(f"arena {plan.arena_bytes:,} bytes")
    if plan.peak_bytes is not None:
        facts.append(f"peak {format_bytes(plan.peak_bytes)}")
    yield TextMark(_LEFT, 48, ", ".join(facts), 12, colour=GREY)


def _bars(plan: Plan) -> Iterator[Mark]:
    bottom = _TOP + _BARS
    yield TextMark(_LEFT, _TOP - 4, "bytes alive in the arena while each operator runs", 11, colour=GREY)
    most = max((load.live_bytes for load in plan.ops), default=0)
    yield from _scale(_TOP, _BARS, most)
    if not most:
        yield TextMark(_LEFT + 10, bottom - 10, "nothing is alive in the arena", 12)
        return
    size = -(-len(plan.ops) // _MOST_BARS)
    groups = [plan.ops[start : start + size] for start in range(0, len(plan.ops), size)]
    step = _ACROSS / (len(plan.ops) + 2)
    worst = max(plan.ops, key=lambda load: load.live_bytes)
    for group in groups:
        high = max(group, key=lambda load: load.live_bytes)
        tall = _BARS * high.live_bytes / most
        x = _LEFT + (group[0].index - plan.ops[0].index + 1) * step
        wide = max(0.5, step * len(group) - 0.5)
        colour = RED if worst in group else _BAR_COLOUR
        yield RectMark(x, bottom - tall, wide, tall, colour, _bar_words(high))
    text = f"the most at op {worst.index} {safe(worst.type, 30)}: {worst.live_bytes:,} bytes"
    yield TextMark(WIDTH - _RIGHT, _TOP - 4, text, 11, "end", RED)
    yield from _op_axis(bottom, plan.ops)


def _bar_words(load: OpLoad) -> str:
    return f"op {load.index} {safe(load.type, 40)}: {load.live_bytes:,} bytes alive"


def _arena(plan: Plan) -> Iterator[Mark]:
    top, bottom = _TOP + _BARS + _GAP, _TOP + _BARS + _GAP + _MAP
    places = [place for place in plan.placements if place.subgraph == 0 and not place.persistent]
    places.sort(key=lambda place: -place.size_bytes)
    hidden = len(places) - _MOST_BOXES
    said = "the arena: offset against operator, a box per tensor"
    yield TextMark(_LEFT, top - 4, said, 11, colour=GREY)
    most = max((place.end_bytes for place in places), default=0)
    yield from _scale(top, _MAP, most)
    if not most or not plan.ops:
        yield TextMark(_LEFT + 10, bottom - 10, "this plan places no tensors in an arena", 12)
        return
    step = _ACROSS / (len(plan.ops) + 2)
    for place in places[:_MOST_BOXES]:
        yield from _tensor(place, len(plan.ops), bottom, _MAP / most, step)
    yield from _op_axis(bottom, plan.ops)
    if hidden > 0:
        yield TextMark(
            WIDTH - _RIGHT, top - 4, f"{plural(hidden, 'small tensor')} not drawn", 11, "end", GREY
        )


def _tensor(place: Placement, ops: int, bottom: float, scale: float, step: float) -> Iterator[Mark]:
    """One tensor's box: one column before the first operator, one after the last."""
    first, last = max(-1, min(place.first_op, ops)), max(-1, min(place.last_op, ops))
    x = _LEFT + (first + 1) * step
    wide = max(0.5, (last - first + 1) * step - 0.5)
    tall = max(0.5, place.size_bytes * scale)
    y = bottom - place.offset_bytes * scale - tall
    name = safe(place.name, 60) or f"tensor {place.tensor}"
    words = f"{name}: {place.size_bytes:,} bytes at {place.offset_bytes:,}, op {first} to {last}"
    yield RectMark(x, y, wide, tall, _COLOURS[place.tensor % len(_COLOURS)], words, outline=True)
    room = int(wide / 6.2)
    if tall >= 14 and room >= 5:
        yield TextMark(x + 3, y + tall / 2 + 4, safe(name, room), 10, colour="#ffffff")


def _scale(top: float, tall: float, most: int) -> Iterator[Mark]:
    """Four lines across, each with its amount."""
    amounts = [format_bytes(most * quarter // 4) for quarter in range(5)]
    return grid(_LEFT, WIDTH - _RIGHT, top, tall, amounts)


def _op_axis(bottom: float, ops: Sequence[OpLoad]) -> Iterator[Mark]:
    yield TextMark(_LEFT, bottom + 16, "before the first operator", 10, colour=GREY)
    last = f"after the last of {plural(len(ops), 'operator')}"
    yield TextMark(WIDTH - _RIGHT, bottom + 16, last, 10, "end", GREY)
