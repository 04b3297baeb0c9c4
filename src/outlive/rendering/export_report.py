"""What was handed over: the files of an export, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.arena.budget import Verdict
from outlive.arena.plan import Plan
from outlive.exporting.micro import Export
from outlive.names import safe
from outlive.rendering.model_text import grid, heading
from outlive.units import format_bytes, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_SHOWN = 24


def export_text(
    made: Export, plan: Plan, verdict: Verdict | None, folder: str, removed: tuple[str, ...]
) -> Iterator[RenderableType]:
    """The summary of an export, top to bottom."""
    yield f"{safe(folder)}: {', '.join(name for name, _ in made.files)}"
    yield heading("memory")
    arena = made.arena
    table = grid("left", "right", "left")
    table.add_row("", "arena as planned", f"{arena.planned_bytes:,} B", "" if plan.exact else "with guesses")
    if arena.variables:
        table.add_row("", "resource variables", f"{arena.variable_bytes:,} B", str(arena.variables))
    table.add_row("", "margin", f"{arena.margin_bytes:,} B", arena.margin_words)
    table.add_row("", "kArenaBytes", f"{arena.bytes:,} B", "RAM")
    table.add_row("", "kModelBytes", f"{made.model_bytes:,} B", "flash")
    yield table
    if verdict is not None:
        left = "" if verdict.margin_bytes is None else f", {format_bytes(verdict.margin_bytes)} of RAM left"
        yield f"  {safe(verdict.budget.title)}: {verdict.word}{left}"
    yield heading("operators", plural(len(made.adders), "kind"))
    for adder in made.adders[:_SHOWN]:
        yield f"  {adder.function:32} {adder.count:,}"
    if len(made.adders) > _SHOWN:
        yield f"  and {len(made.adders) - _SHOWN} more"
    if removed:
        yield heading("left out of the model")
        yield from (f"  {safe(line)}" for line in removed)
    for line in plan.unknown[:_SHOWN]:
        yield f"  not known: {safe(line)}"
