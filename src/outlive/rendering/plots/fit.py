"""The picture of a search: memory across, loss upwards, a dot for each candidate that was run.

loss │ ▪▁            green dots fit, red ones lose too much, and the orange ring is the chosen one;
     │  ▪▁▁▪ |       the steps join those that no other beats in memory and loss;
     └───────┴─▫──>  dots below the line did not fit, and were not compared
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from outlive.fitting import Fit, Outcome
from outlive.names import safe
from outlive.rendering.pages.fit import least_loss, loss_words
from outlive.rendering.picture import GREY, HEIGHT, INK, PALE, RED, WIDTH, LineMark, Mark, RectMark, TextMark
from outlive.units import format_bytes

_LEFT, _RIGHT, _TOP, _BOTTOM = 110, 40, 90, 100
_ACROSS, _TALL = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
_FLOOR = _TOP + _TALL
_FITS, _CHOSEN, _FRONT = "#59a14f", "#f28e2b", "#4e79a7"
_DOT, _RING = 9.0, 17.0
# Less than this is shown at the bottom: the last bits of kernels are no loss that anybody sees.
_LEAST_LOSS = 1e-5
# What needs many times the budget would press all others together.
_MOST_TIMES = 2.5
_NAME, _LETTER, _LINE = 60, 6.2, 14.0
Spot = tuple[float, float]


def marks(fit: Fit) -> Iterator[Mark]:
    """The picture as boxes, lines and words."""
    budget = fit.budget.ram_bytes
    near = [row for row in fit.candidates if row.needed_bytes and row.needed_bytes <= _MOST_TIMES * budget]
    rows = [row for row in near if row.loss is not None]
    title = "nothing fits" if fit.chosen is None else str(fit.chosen.candidate)
    yield TextMark(_LEFT, 30, safe(f"{Path(fit.source).name or 'the model'}: {title}", 100), 18, colour=INK)
    yield TextMark(_LEFT, 52, f"loss: {safe(fit.loss_by, 110)}", 12, colour=GREY)
    most = 1.1 * max([budget, *(row.needed_bytes or 0 for row in near)])
    worst = max([_LEAST_LOSS * 10, *(row.loss or 0.0 for row in rows)])
    yield from _axes(fit, most, worst)
    edge = _x(budget, most)
    yield LineMark(edge, _TOP - 20, edge, _FLOOR + 30, RED)
    yield TextMark(edge - 6, _TOP - 10, f"budget {format_bytes(budget)}", 12, "end", RED)
    for row in near:
        if row.loss is None:
            x, words = _x(row.needed_bytes or 0, most), f"{row.candidate}: {row.verdict}, {row.reason}"
            yield RectMark(x - 2, _FLOOR + 8, 4, 14, RED, safe(words, 200))
    if len(rows) < len(near):
        yield TextMark(_LEFT - 8, _FLOOR + 20, "not compared", 11, "end", GREY)
    yield from _dots(fit, rows, most, worst)


def _axes(fit: Fit, most: float, worst: float) -> Iterator[Mark]:
    yield LineMark(_LEFT, _FLOOR, WIDTH - _RIGHT, _FLOOR, INK)
    yield LineMark(_LEFT, _TOP, _LEFT, _FLOOR, INK)
    for quarter in range(5):
        size = int(most * quarter / 4)
        yield TextMark(_x(size, most), _FLOOR + 46, format_bytes(size), 12, "middle", GREY)
    yield TextMark(_LEFT + _ACROSS / 2, _FLOOR + 74, "memory that it adds", 13, "middle", INK)
    yield TextMark(_LEFT - 8, _FLOOR + 4, loss_words(fit, 0), 12, "end", GREY)
    loss = _LEAST_LOSS
    while (loss := loss * 10) <= worst * 1.0001:
        y = _y(loss, worst)
        yield LineMark(_LEFT, y, WIDTH - _RIGHT, y, PALE)
        yield TextMark(_LEFT - 8, y + 4, loss_words(fit, loss), 12, "end", GREY)
    yield TextMark(_LEFT - 8, _TOP - 14, "loss", 13, "end", INK)


def _dots(fit: Fit, rows: Sequence[Outcome], most: float, worst: float) -> Iterator[Mark]:
    chosen = next((row for row in rows if fit.chosen is not None and row.rank == fit.chosen.rank), None)
    places = {row.rank: (_x(row.needed_bytes or 0, most), _y(row.loss or 0.0, worst)) for row in rows}
    stairs = least_loss(rows)
    for (left, high), (right, low) in pairwise(places[row.rank] for row in stairs):
        yield LineMark(left, high, right, high, _FRONT)
        yield LineMark(right, high, right, low, _FRONT)
    for row in rows:
        x, y = places[row.rank]
        words = f"{row.candidate}: {format_bytes(row.needed_bytes or 0)}, {loss_words(fit, row.loss or 0.0)}"
        if row is chosen:
            yield RectMark(x - _RING / 2, y - _RING / 2, _RING, _RING, _CHOSEN, safe(words, 200))
        fill = _FITS if row.fits else RED
        yield RectMark(x - _DOT / 2, y - _DOT / 2, _DOT, _DOT, fill, safe(words, 200), True)
    named = [*([] if chosen is None else [chosen]), *stairs]
    yield from _labels([(str(row.candidate), places[row.rank]) for row in dict.fromkeys(named)])


def _labels(named: Sequence[tuple[str, Spot]]) -> Iterator[Mark]:
    """Names beside their dots, where there is room for them."""
    taken: list[tuple[float, float, float]] = []
    for text, (x, y) in named:
        name = safe(text, _NAME)
        width = _LETTER * len(name)
        left = x + 14 if x + 14 + width < WIDTH else x - 14 - width
        for down in (-8.0, 18.0, -24.0, 34.0):
            line = y + down
            free = all(
                abs(line - other) >= _LINE or left > end or left + width < start
                for start, end, other in taken
            )
            if free and _TOP - 30 < line < _FLOOR + 6:
                taken.append((left, left + width, line))
                yield TextMark(left, line, name, 11, "start", INK)
                break


def _x(size: float, most: float) -> float:
    return _LEFT + _ACROSS * size / most


def _y(loss: float, worst: float) -> float:
    """Losses by their powers of ten: 0.01% and 10% are both to be seen."""
    if loss <= _LEAST_LOSS:
        return float(_FLOOR)
    share = math.log10(loss / _LEAST_LOSS) / math.log10(max(worst, _LEAST_LOSS * 10) / _LEAST_LOSS)
    return _FLOOR - _TALL * min(share, 1.0)
