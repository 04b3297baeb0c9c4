"""An autopsy: what it means, what to do next, and which lines say so."""

from __future__ import annotations

import os
from collections.abc import Iterator

from outlive.diagnosis.autopsy import Autopsy
from outlive.rendering import page as ui

# What is said in place of a cause where there is none, or where its name says little.
_WORDS = {"": "unknown cause", "unknown": "cause not certain", "missing-runtime": "installation or system"}

# A terminal shows so many lines of the log; with -v all, with what each means.
_MOST_LINES = 6


def page(autopsy: Autopsy) -> ui.Page:
    """The page of `outlive autopsy`."""
    known = _WORDS.get(autopsy.cause, autopsy.cause)
    word = f"{autopsy.code}, {known}" if autopsy.code else known
    blocks = tuple(_evidence(autopsy))
    sections = [ui.Section("next", "Next", (ui.Listing(autopsy.do, is_numbered=True),))]
    if blocks:
        sections.append(ui.Section("evidence", "Evidence", blocks))
    return ui.Page(
        title=os.path.basename(autopsy.source) or autopsy.source,
        subtitle=autopsy.source,
        kind="autopsy",
        verdict=ui.PageVerdict("bad" if autopsy.cause else "warn", word, _sentence(autopsy.meaning)),
        sections=tuple(sections),
    )


def _sentence(words: str) -> str:
    """The words as a sentence; a name or path at their start keeps its letters."""
    first = words.partition(" ")[0]
    return words[:1].upper() + words[1:] if first.isalpha() and first.islower() else words


def _evidence(autopsy: Autopsy) -> Iterator[ui.Block]:
    place = ", ".join(_place(autopsy))
    if place:
        yield ui.Words(f"At {place}.")
    if autopsy.not_read:
        yield ui.Words(f"Not read: {autopsy.not_read}.")
    if autopsy.findings:
        errors = "; ".join(f"{item.code} {item.headline}" for item in autopsy.findings)
        yield ui.Words(f"Errors in the model {autopsy.model}: {errors}.")
    if autopsy.clues:
        said = dict.fromkeys((clue.line_number, clue.match.line) for clue in autopsy.clues)
        shown = tuple(f"line {number}: {text}" for number, text in list(said)[:_MOST_LINES])
        yield ui.Listing(shown, "Lines that say so, most relevant first")
        columns = ui.columns("line: number | count: number | source: -v | message: mono wide | meaning: wide")
        rows = [
            (clue.line_number, clue.count, clue.match.message.source, clue.match.line, clue.match.meaning)
            for clue in autopsy.clues
        ]
        yield ui.Table("clues", "Meaning of each line", columns, rows, detail=1)
    if autopsy.others:
        lines = [f"line {other.line_number}: {other.meaning}" for other in autopsy.others]
        yield ui.Words("Earlier crashes in the same log:")
        yield ui.Listing(tuple(lines))
    if autopsy.core is not None and autopsy.core.frames:
        title = f"Native stack, read with {autopsy.core.tool}"
        yield ui.Pre(title, "\n".join(autopsy.core.frames), is_open=True, detail=0)


def _place(autopsy: Autopsy) -> Iterator[str]:
    """The operator and the stage, as far as they are known."""
    if autopsy.op is not None:
        index = "" if autopsy.op.index is None else f"operator {autopsy.op.index}, "
        yield f"{index}{autopsy.op.type}"
    if autopsy.stage:
        yield autopsy.stage
    if autopsy.signal:
        yield autopsy.signal
    if autopsy.where:
        yield autopsy.where
