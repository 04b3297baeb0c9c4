"""The page of `outlive export`: the files that were made, the memory they ask for, and what they register."""

from __future__ import annotations

from collections.abc import Iterator

from outlive.exporting.micro import Export, NotExported
from outlive.rendering import page as ui
from outlive.units import format_bytes, plural

_SHOWN = 24


def page(made: Export | NotExported) -> ui.Page:
    """What was exported, or why nothing was."""
    if isinstance(made, NotExported):
        return ui.broken_page("export", made.path, made.findings)
    return ui.make_page("export", made.plan.path, _verdict(made), (), _sections(made))


def _verdict(made: Export) -> ui.PageVerdict:
    verdict = made.verdict
    where = f" in {made.path}" if made.path else ""
    sentence = f"{', '.join(name for name, _ in made.files)}{where}."
    if verdict is not None:
        left = "" if verdict.margin_bytes is None else f", {format_bytes(verdict.margin_bytes)} of RAM left"
        sentence += f" {verdict.budget.title}: {verdict.word}{left}."
    return ui.PageVerdict("good", "exported", sentence)


def _sections(made: Export) -> Iterator[ui.Section]:
    yield from ui.findings_sections(made.findings)
    columns = ui.columns(" | bytes: number | : wide")
    memory = ui.Table("memory", "Memory to reserve", columns, list(_memory(made)))
    yield ui.Section("memory", "Memory", (memory,))
    adders = ui.Table(
        "adders",
        plural(len(made.adders), "kind"),
        ui.columns("function: mono | operators: number"),
        [(adder.function, adder.count) for adder in made.adders],
        brief=_SHOWN,
    )
    yield ui.Section("operators", "Operators", (adders,))
    if made.removed:
        removed = ui.Listing(made.removed)
        yield ui.Section("removed", "Removed from the model", (removed,))
    if made.plan.unknown:
        yield ui.Section("unknown", "Not known", (ui.Listing(made.plan.unknown[:_SHOWN]),))


def _memory(made: Export) -> Iterator[tuple[ui.Cell, ...]]:
    arena = made.arena
    yield "arena as planned", arena.planned_bytes, "" if made.plan.exact else "estimate"
    if arena.variables:
        yield "resource variables", arena.variable_bytes, str(arena.variables)
    yield "margin", arena.margin_bytes, arena.margin_words
    yield "kArenaBytes", arena.bytes, "RAM"
    yield "kModelBytes", made.model_bytes, "flash"
