"""An autopsy as text and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.diagnosis.autopsy import Autopsy, Clue
from outlive.names import safe
from outlive.rendering.document import Json, document
from outlive.rendering.model_text import grid, heading

if TYPE_CHECKING:
    from rich.console import RenderableType

_LINE = 160
_SHOWN = 12


def autopsy_json(autopsy: Autopsy) -> Json:
    """The document of `outlive autopsy`."""
    core, op = autopsy.core, autopsy.op
    body = {
        "source": autopsy.source,
        "found": autopsy.found,
        "cause": autopsy.cause or None,
        "stage": autopsy.stage or None,
        "op": None if op is None else {"subgraph": op.subgraph, "index": op.index, "type": op.type},
        "meaning": autopsy.meaning,
        "do": list(autopsy.do),
        "clues": [_clue(clue) for clue in autopsy.clues],
        "core": None
        if core is None
        else {
            "signal": core.signal,
            "command": core.command,
            "frames": list(core.frames),
            "tool": core.tool or None,
        },
    }
    return document("autopsy", body)


def _clue(clue: Clue) -> Json:
    match = clue.match
    return {
        "message": match.message.id,
        "source": match.message.source,
        "seen": match.message.seen,
        "line": clue.line_number,
        "count": clue.count,
        "text": match.line,
        "named": match.groups,
        "cause": match.message.cause or None,
        "meaning": match.meaning,
        "do": list(match.advice),
    }


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
