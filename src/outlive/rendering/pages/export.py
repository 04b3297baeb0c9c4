"""The page of `outlive export`: the files that were made, the memory they ask for, and what they register."""

from __future__ import annotations

from collections.abc import Iterator

from outlive.exporting.micro import Export, NotExported
from outlive.rendering.page import (
    Cell,
    Column,
    Listing,
    Page,
    PageVerdict,
    Section,
    Table,
    broken_page,
    findings_sections,
    make_page,
)
from outlive.units import format_bytes, plural

_SHOWN = 24


def page(made: Export | NotExported) -> Page:
    """What was exported, or why nothing was."""
    if isinstance(made, NotExported):
        return broken_page("export", made.path, made.findings)
    return make_page("export", made.plan.path, _verdict(made), (), _sections(made))


def _verdict(made: Export) -> PageVerdict:
    verdict = made.verdict
    where = f" in {made.path}" if made.path else ""
    told = f"{', '.join(name for name, _ in made.files)}{where}."
    if verdict is not None:
        left = "" if verdict.margin_bytes is None else f", {format_bytes(verdict.margin_bytes)} of RAM left"
        told += f" {verdict.budget.title}: {verdict.word}{left}."
    return PageVerdict(tone="good", word="exported", sentence=told)


def _sections(made: Export) -> Iterator[Section]:
    yield from findings_sections(made.findings)
    columns = (Column(title=""), Column(title="bytes", kind="number"), Column(title="", wide=True))
    memory = Table(id="memory", caption="What to reserve", columns=columns, rows=list(_memory(made)))
    yield Section(id="memory", title="Memory", blocks=(memory,))
    adders = Table(
        id="adders",
        caption=plural(len(made.adders), "kind"),
        columns=(Column(title="function", kind="mono"), Column(title="operators", kind="number")),
        rows=[(adder.function, adder.count) for adder in made.adders],
        brief=_SHOWN,
    )
    yield Section(id="operators", title="Operators", blocks=(adders,))
    if made.removed:
        removed = Listing(items=made.removed)
        yield Section(id="removed", title="Left out of the model", blocks=(removed,))
    if made.plan.unknown:
        yield Section(id="unknown", title="Not known", blocks=(Listing(items=made.plan.unknown[:_SHOWN]),))


def _memory(made: Export) -> Iterator[tuple[Cell, ...]]:
    arena = made.arena
    yield "arena as planned", arena.planned_bytes, "" if made.plan.exact else "with guesses"
    if arena.variables:
        yield "resource variables", arena.variable_bytes, str(arena.variables)
    yield "margin", arena.margin_bytes, arena.margin_words
    yield "kArenaBytes", arena.bytes, "RAM"
    yield "kModelBytes", made.model_bytes, "flash"
