"""A search for people: what was chosen and what it costs, then every candidate with its reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from outlive.finding import Tag, shell_path
from outlive.fitting.nouns import Candidate, Fit, Outcome, Shortage
from outlive.names import safe, whole
from outlive.rendering.model_lists import listing
from outlive.units import format_bytes, plural

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_NAME = 60
_REASON = 140
_MOST_ROWS = 24
_COLUMNS = ("", "candidate", "run with", "changes", "memory", "file", "ms", "loss", "verdict", "why")
_CHANGES = {Tag.SAME_RESULTS: "nothing", Tag.CHANGES_RESULTS: "results", Tag.CHANGES_MODEL: "model"}
_COLOURS = {
    "fits": "green",
    "tight": "yellow",
    "may not fit": "yellow",
    "does not fit": "red",
    "loses too much": "red",
}
_TONES = {"warn": "yellow", "bad": "red"}
_CHANGED = {
    Tag.SAME_RESULTS: "nothing in the results",
    Tag.CHANGES_RESULTS: "the results; the file's weights stay as they are",
    Tag.CHANGES_MODEL: "the model itself, and so the results",
}
_STOPPED = {
    "seconds": "the time was up before all was tried: more may fit",
    "interrupted": "interrupted before all was tried: this is what was known by then",
}


def fit_text(fit: Fit) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom; what was not tried is listed only if all was asked for."""
    from rich.text import Text

    warning = fit.caution
    colour = "red" if fit.chosen is None else _TONES[warning.tone] if warning else "green"
    yield Text(_headline(fit), style=f"bold {colour}")
    if warning is not None:
        yield Text(f"but {warning.words}", style=f"bold {_TONES[warning.tone]}")
    if fit.stopped:
        yield Text(_STOPPED[fit.stopped], style="yellow")
    if fit.chosen is not None:
        yield from _chosen(fit, fit.chosen)
    elif fit.shortage is not None:
        yield from _shortage(fit, fit.shortage)
    if fit.refusal:
        yield Text(f"`{whole(_asking_why(fit))}` says why", style="yellow")
    for note in fit.notes:
        yield Text(f"note: {safe(note, 300)}", style="yellow")
    for path in fit.written:
        yield Text(f"written: {safe(path, 200)}")
    yield from _table(fit)


def _asking_why(fit: Fit) -> str:
    """The command that says why a model does not run: its plan where nothing is run, on microcontrollers."""
    if any(row.candidate.accelerator == "tflm" for row in fit.candidates):
        return f"outlive plan {shell_path(fit.source or 'MODEL')} --accelerator tflm"
    return f"outlive diagnose {shell_path(fit.source or 'MODEL')}"


def _headline(fit: Fit) -> str:
    memory = format_bytes(fit.budget.ram_bytes)
    has_flash = fit.budget.flash_bytes is not None
    flash = f", flash {format_bytes(fit.budget.flash_bytes or 0)}" if has_flash else ""
    where = f"{safe(fit.budget.title, 80)} ({memory}{flash})"
    name = safe(fit.source, 100) or "the model"
    if fit.refusal:
        return f"{name}: it does not run, however much memory there is: {safe(fit.refusal, 200)}"
    if fit.chosen is None:
        return f"{name}: nothing that was tried fits {where}"
    return f"{name}: {fit.chosen.candidate} {_verb(fit.chosen)} {where}"


def _verb(outcome: Outcome) -> str:
    return "fits" if outcome.verdict == "fits" else "just fits"


def _chosen(fit: Fit, chosen: Outcome) -> Iterator[RenderableType]:
    table = listing("", "")
    table.show_header = False
    for name, words in _facts(fit, chosen):
        table.add_row(name, words)
    yield table


def _facts(fit: Fit, chosen: Outcome) -> Iterator[tuple[str, str]]:
    planned = "" if chosen.peak_bytes is None else f"{format_bytes(chosen.peak_bytes)} planned"
    if chosen.measured_peak_bytes is None:
        yield "memory", f"{planned}, not measured"
    else:
        yield "memory", f"{format_bytes(chosen.measured_peak_bytes)} measured within the budget, {planned}"
    size, before = chosen.file_bytes or 0, max(fit.original_bytes, 1)
    yield "file", f"{format_bytes(size)}, {size / before:.0%} of {format_bytes(before)}"
    if chosen.milliseconds is not None:
        yield "time", f"{_milliseconds(chosen.milliseconds)} ms a run, on this machine"
    yield "loss", _loss_words(fit, chosen)
    yield "changes", _CHANGED[chosen.tag]
    for note in (*chosen.notes, *filter(None, [chosen.reason])):
        yield "note", safe(note, 300)


def _loss_words(fit: Fit, chosen: Outcome) -> str:
    if chosen.loss is None:
        return "not known"
    indicative = ", on random inputs: only indicative" if fit.is_indicative else ""
    scores = ""
    if chosen.score is not None and fit.original_score is not None:
        scores = f", {chosen.score:.5g} instead of {fit.original_score:.5g}"
    samples = f", {plural(fit.samples, 'sample')}" if fit.samples and not scores else ""
    return f"{loss_words(fit, chosen.loss)} ({safe(fit.loss_by, 120)}{scores}{samples}{indicative})"


def _shortage(fit: Fit, shortage: Shortage) -> Iterator[RenderableType]:
    from rich.text import Text

    smallest = shortage.smallest
    needed = "?" if smallest.needed_bytes is None else f"{smallest.needed_bytes:,} bytes"
    how = "planned" if smallest.measured_peak_bytes is None else "measured"
    tried = "the smallest that was tried" if fit.stopped else "the smallest"
    yield Text(f"{tried}: {smallest.candidate}, {needed} {how}: {safe(smallest.reason, _REASON)}")
    if shortage.lower_bound_bytes is not None:
        least = f"{shortage.lower_bound_bytes:,} bytes"
        yield Text(f"none of what was tried can get below {least}: so much is alive at once")
    if shortage.op is not None:
        named = ", ".join(
            f"{safe(name, _NAME)} ({format_bytes(size)})" for name, size in shortage.tensors[:3]
        )
        yield Text(f"most is alive at op {shortage.op}, {safe(shortage.op_type, 40)}: {named}")
    for change in shortage.needed_changes:
        yield Text(safe(change, 200), style="yellow")


def _table(fit: Fit) -> Iterator[RenderableType]:
    from rich.text import Text

    shown = _shown(fit)
    if not shown:
        return
    counted = plural(len(fit.candidates), "candidate")
    some = "" if len(shown) == len(fit.candidates) else f", {len(shown)} of them"
    yield Text(f"\n{counted}{some}, cheapest for you first", style="bold")
    table = listing(*_COLUMNS)
    for column in table.columns[:-1]:
        column.no_wrap = True
    for row, others in _together(shown):
        table.add_row(*_row(fit, row, others))
    yield table
    hidden = len(fit.candidates) - len(shown)
    told = [f"{hidden:,} more were not tried, or are larger: --all tries and shows them"] if hidden else []
    if any(_memory(row).startswith("~") for row in shown):
        told.append("~ planned, not run")
    if any(row.on_front for row in shown):
        told.append("▸ no other is smaller, quicker and better at once")
    yield from (Text(line, style="dim") for line in told)


def _shown(fit: Fit) -> list[Outcome]:
    """All that is worth a line: the rest is larger, or was not tried."""
    if fit.every:
        return list(fit.candidates)
    tried = [row for row in fit.candidates if row.verdict != "not tried"]
    ran = [row for row in tried if row.file_bytes is not None]
    wanted = sorted(ran, key=lambda row: (not row.fits, not row.on_front, _size(row)))[:_MOST_ROWS]
    kept = {row.rank for row in wanted}
    return [row for row in tried if row.rank in kept or row.file_bytes is None]


def _size(row: Outcome) -> float:
    return math.inf if row.needed_bytes is None else row.needed_bytes


def _together(rows: Sequence[Outcome]) -> Iterator[tuple[Outcome, int]]:
    """Rows, and how many more stand behind each: what cannot be built for one reason is told once."""
    for _, group in groupby(rows, key=lambda row: row.reason if row.file_bytes is None else row.rank):
        first, *others = group
        if first.verdict == "refused":
            yield first, len({row.candidate.variant for row in others} - {first.candidate.variant})
        else:
            yield from ((row, 0) for row in (first, *others))


def _row(fit: Fit, row: Outcome, others: int) -> tuple[str | Text, ...]:
    from rich.text import Text

    chosen = fit.chosen is not None and row.rank == fit.chosen.rank
    missing = _missing(fit, row)
    mark = "●" if chosen else "▸" if row.on_front else ""
    return (
        mark,
        (", ".join(row.candidate.steps) or "as it is") + (f" and {others} more" if others else ""),
        "any" if row.verdict == "refused" and row.file_bytes is None else _setting(row.candidate),
        _CHANGES[row.tag],
        _memory(row),
        "" if row.file_bytes is None else format_bytes(row.file_bytes),
        "" if row.milliseconds is None else _milliseconds(row.milliseconds),
        "" if row.loss is None else loss_words(fit, row.loss),
        Text(missing or row.verdict, style=_COLOURS.get(row.verdict, "dim")),
        safe("; ".join(filter(None, ("" if missing else row.reason, *row.notes))), _REASON),
    )


def loss_words(fit: Fit, loss: float) -> str:
    """A loss in percent, or in the units of a metric whose scores are not between 0 and 1."""
    return percent(loss) if fit.loss_is_share else f"{loss:.4g}"


def percent(share: float) -> str:
    """A share in percent, with as many digits as it takes to see it."""
    if share == 0:
        return "0%"
    return f"{share:.2%}" if share >= 0.0001 else f"{100 * share:.1g}%"


def _setting(candidate: Candidate) -> str:
    """What runs it, in as few words as a table has room for."""
    threads = "" if candidate.threads is None else f", {candidate.threads} threads"
    name = {"cpu": "XNNPACK", "tflm": "TFLM"}.get(candidate.accelerator, candidate.accelerator)
    return f"{name}{' + cache' if candidate.weight_cache else ''}{threads}"


def _missing(fit: Fit, row: Outcome) -> str:
    """How much memory or flash is missing; empty if it is not that."""
    if row.verdict != "does not fit":
        return ""
    over = (row.needed_bytes or 0) - fit.budget.ram_bytes
    flash = 0 if fit.budget.flash_bytes is None else (row.file_bytes or 0) - fit.budget.flash_bytes
    said = [f"{format_bytes(over)} too much"] if over > 0 else []
    said += [f"file {format_bytes(flash)} too large"] if flash > 0 else []
    return ", ".join(said)


def _milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _memory(row: Outcome) -> str:
    """What it took; what it is planned to take, with a mark, where it was not run."""
    if row.needed_bytes is None:
        return ""
    return f"{'~' if row.measured_peak_bytes is None else ''}{format_bytes(row.needed_bytes)}"
