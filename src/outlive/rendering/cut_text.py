"""A part of a model in words: what went in, what comes out, what it was cut from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.model import Model
from outlive.names import safe
from outlive.rendering.model_text import grid, heading
from outlive.surgery import Cut, CutTensor
from outlive.units import format_bytes, format_shape, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAME = 48
_LISTED = 24
_KINDS = 8


def cut_text(part: Cut, model: Model, path: str) -> Iterator[RenderableType]:
    """The parts of the summary, top to bottom."""
    whole = model.subgraphs[0].operators
    share = f"{plural(len(part.ops), 'operator')} of {len(whole):,}"
    sizes = f"{format_bytes(part.file_bytes)} of {format_bytes(model.file_bytes)}"
    yield f"{safe(path)}: {share}, {sizes}"
    yield from _tensors("inputs", part.inputs)
    yield from _tensors("outputs", part.outputs)
    yield heading("operators", _numbers(part.ops))
    kinds = Counter(whole[index].name for index in part.ops).most_common()
    more = f" and {len(kinds) - _KINDS} other kinds" if len(kinds) > _KINDS else ""
    yield "  " + ", ".join(f"{count} {safe(name, _NAME)}" for name, count in kinds[:_KINDS]) + more
    yield from _sentences("state", part.state)
    yield from _sentences("not true of the part, and left out", part.dropped)


def _tensors(title: str, tensors: tuple[CutTensor, ...]) -> Iterator[RenderableType]:
    yield heading(title, "" if tensors else "none")
    table = grid("left", "left", "left", "dim")
    for item in tensors[:_LISTED]:
        was = f"#{item.index}, was #{item.original}"
        table.add_row("", safe(item.name, _NAME), format_shape(item.shape), item.dtype, was)
    if tensors:
        yield table
    if len(tensors) > _LISTED:
        yield f"  and {len(tensors) - _LISTED} more"


def _sentences(title: str, lines: tuple[str, ...]) -> Iterator[RenderableType]:
    if lines:
        yield heading(title)
        yield from (f"  {safe(line)}" for line in lines)


def _numbers(ops: tuple[int, ...]) -> str:
    """Operators of the whole as runs: `0 to 12, 15, 17`."""
    runs: list[list[int]] = []
    for index in ops:
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    words = [f"{first} to {last}" if last > first else str(first) for first, last in runs]
    more = f" and {len(words) - _LISTED} more runs" if len(words) > _LISTED else ""
    return ", ".join(words[:_LISTED]) + more
