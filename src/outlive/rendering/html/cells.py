"""Cells of tables as text, and what they are sorted by; tables.js says the same in the browser."""

from __future__ import annotations

import math

from outlive.names import safe
from outlive.rendering.html.blocks import Cell, Column, Table
from outlive.units import format_bytes

_LONGEST = 300
_NUMBERS = ("number", "bytes", "bar", "share")


def cell_text(column: Column, value: Cell) -> str:
    """What is shown; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return safe(value, _LONGEST)
    if isinstance(value, float) and not math.isfinite(value):
        return "not a number" if math.isnan(value) else "infinite" if value > 0 else "minus infinite"
    if column.kind in ("bytes", "bar"):
        return format_bytes(round(value))
    if column.kind == "share":
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def sort_key(column: Column, value: Cell) -> str:
    """What it is sorted by: a number as JavaScript writes it, words in small letters.

    Nothing for None and what is no number: they go last.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if column.kind in _NUMBERS and isinstance(value, (int, float)):
        return repr(float(value)).replace("inf", "Infinity")
    return cell_text(column, value).lower()


def tone_of(column: Column, value: Cell) -> str:
    """The colour of a chip."""
    return column.tones.get(str(value), "plain")


def bar_width(table: Table, column: int, value: Cell) -> str:
    """How long a bar is, in hundredths of the longest in its column."""
    sizes = [row[column] for row in table.rows]
    most = max((size for size in sizes if isinstance(size, (int, float)) and math.isfinite(size)), default=0)
    if not isinstance(value, (int, float)) or math.isnan(value) or most <= 0:
        return "0"
    return f"{100 * max(0, min(value, most)) / most:.1f}"
