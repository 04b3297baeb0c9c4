"""An autopsy: what it means, which lines say so, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator

from outlive.diagnosis.autopsy import Autopsy
from outlive.rendering.page import Block, Column, Listing, Page, PageVerdict, Pre, Section, Table, Words


def page(autopsy: Autopsy) -> Page:
    """The page of `outlive autopsy`."""
    word = autopsy.cause or "nothing that outlive knows"
    blocks = tuple(_evidence(autopsy))
    steps = tuple(f"{number}. {words}" for number, words in enumerate(autopsy.do, 1))
    sections = [Section(id="next", title="Next", blocks=(Listing(items=steps),))]
    if blocks:
        sections.insert(0, Section(id="evidence", title="Evidence", blocks=blocks))
    return Page(
        title=autopsy.source,
        kind="autopsy",
        verdict=PageVerdict(tone="bad" if autopsy.cause else "warn", word=word, sentence=autopsy.meaning),
        sections=tuple(sections),
    )


def _evidence(autopsy: Autopsy) -> Iterator[Block]:
    place = ", ".join(_place(autopsy))
    if place:
        yield Words(text=f"At {place}.")
    if autopsy.clues:
        columns = (
            Column(title="line", kind="number"),
            Column(title="times", kind="number"),
            Column(title="said by"),
            Column(title="what it says", kind="mono", wide=True),
            Column(title="what it means", wide=True),
        )
        rows = [
            (clue.line_number, clue.count, clue.match.message.source, clue.match.line, clue.match.meaning)
            for clue in autopsy.clues
        ]
        yield Table(id="clues", caption="Clues, the most telling first", columns=columns, rows=rows)
    if autopsy.core is not None and autopsy.core.frames:
        title = f"Native stack, read with {autopsy.core.tool}"
        yield Pre(title=title, text="\n".join(autopsy.core.frames), is_open=True, detail=0)


def _place(autopsy: Autopsy) -> Iterator[str]:
    """The operator and the stage, as far as they are known."""
    if autopsy.op is not None:
        index = "" if autopsy.op.index is None else f"op {autopsy.op.index} "
        yield f"{index}{autopsy.op.type}"
    if autopsy.stage:
        yield autopsy.stage
