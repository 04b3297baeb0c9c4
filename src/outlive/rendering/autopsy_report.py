"""An autopsy as text and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.diagnosis.autopsy import Autopsy
from outlive.names import safe
from outlive.rendering.model_text import grid, heading

if TYPE_CHECKING:
    from rich.console import RenderableType

_LINE = 160
_SHOWN = 12


def _place(autopsy: Autopsy) -> Iterator[str]:
    """The operator and the stage, as far as they are known."""
    if autopsy.op is not None:
        index = "" if autopsy.op.index is None else f"op {autopsy.op.index} "
        yield f"{index}{autopsy.op.type}"
    if autopsy.stage:
        yield autopsy.stage


def autopsy_text(autopsy: Autopsy) -> Iterator[RenderableType]:
    """What it means, which lines say so, and what to do next."""
    from rich.text import Text

    cause = autopsy.cause or "nothing that outlive knows"
    yield Text.assemble(
        (safe(autopsy.source, _LINE), "bold"), "  ", (cause, "bold red" if autopsy.cause else "yellow")
    )
    yield Text.assemble("  ", safe(autopsy.meaning, 4 * _LINE))
    place = ", ".join(_place(autopsy))
    if place:
        yield Text.assemble("  at ", safe(place, _LINE))
    if autopsy.clues:
        yield heading("clues", "the most telling first")
        table = grid("right", "dim", "left")
        for clue in autopsy.clues[:_SHOWN]:
            times = f"line {clue.line_number}" + (f", {clue.count} times" if clue.count > 1 else "")
            table.add_row("", times, clue.match.message.source, safe(clue.match.line, _LINE))
            table.add_row("", "", "", safe(f"  {clue.match.meaning}", 2 * _LINE))
        yield table
    if autopsy.core is not None and autopsy.core.frames:
        yield heading("native stack", autopsy.core.tool)
        yield from (Text(f"  {safe(frame, _LINE)}") for frame in autopsy.core.frames)
    yield heading("next")
    yield from (Text(f"  {number}. {safe(words, 2 * _LINE)}") for number, words in enumerate(autopsy.do, 1))
