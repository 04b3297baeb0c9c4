"""A search: what was chosen and what it costs, memory against loss, every candidate, why nothing fits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from outlive.finding import Tag, shell_path
from outlive.fitting import Candidate, Fit, Outcome, Shortage
from outlive.names import safe
from outlive.rendering import page as ui
from outlive.units import format_bytes, plural

_TONES = {
    "fits": "good",
    "tight": "warn",
    "may not fit": "warn",
    "does not fit": "bad",
    "loses too much": "4",
    "refused": "plain",
    "died": "3",
    "not tried": "plain",
}
_CHANGES = {Tag.SAME_RESULTS: "nothing", Tag.CHANGES_RESULTS: "results", Tag.CHANGES_MODEL: "model"}
_CHANGED = {
    Tag.SAME_RESULTS: "nothing: same results",
    Tag.CHANGES_RESULTS: "the results, not the weights",
    Tag.CHANGES_MODEL: "the model and its results",
}
_STOPPED = {
    "seconds": "Time limit reached before all candidates were tried.",
    "interrupted": "Interrupted before all candidates were tried.",
}
_BRIEF = 3


def page(fit: Fit) -> ui.Page:
    """The page of a search."""
    return ui.make_page("fit", fit.source, fit_verdict(fit), _tiles(fit), _sections(fit))


def fit_verdict(fit: Fit) -> ui.PageVerdict:
    """What fits, and what it costs; or that nothing does."""
    room = f"{format_bytes(fit.budget.ram_bytes, fit.budget.ram_bytes)} ({fit.budget.title})"
    if fit.refusal:
        return ui.PageVerdict("bad", "does not run with any amount of memory", fit.refusal)
    if fit.chosen is None:
        return ui.PageVerdict("bad", f"{_no_candidate(fit)} fits", f"Budget: {room}.")
    chosen = fit.chosen
    need = (
        ""
        if chosen.needed_bytes is None
        else f" Needs {format_bytes(chosen.needed_bytes, fit.budget.ram_bytes)} of {room}."
    )
    cost = "" if chosen.loss is None else f" Loss {loss_words(fit, chosen.loss)}."
    warning = fit.caution
    but = f", but {warning.words}" if warning else ""
    return ui.PageVerdict(
        warning.tone if warning else "warn" if chosen.verdict == "tight" else "good",
        f"{chosen.verdict}: {', '.join(chosen.candidate.steps) or 'unchanged'}{but}",
        f"Runs with {chosen.candidate.setting}.{need}{cost}",
    )


def loss_words(fit: Fit, loss: float) -> str:
    """A loss in percent, or in the units of a metric whose scores are not between 0 and 1."""
    if not fit.loss_is_share:
        return f"{loss:.4g}"
    if loss == 0:
        return "0%"
    return f"{loss:.2%}" if loss >= 0.0001 else f"{100 * loss:.1g}%"


def _tiles(fit: Fit) -> Iterator[ui.Tile]:
    chosen = fit.chosen
    if chosen is not None:
        if chosen.needed_bytes is not None:
            how = "planned" if chosen.measured_peak_bytes is None else "measured"
            yield ui.Tile(f"memory, {how}", format_bytes(chosen.needed_bytes), tone="good")
        if chosen.file_bytes is not None:
            yield ui.Tile("file", format_bytes(chosen.file_bytes), f"was {format_bytes(fit.original_bytes)}")
        if chosen.loss is not None:
            warning = fit.caution
            yield ui.Tile(
                "loss",
                loss_words(fit, chosen.loss),
                "indicative" if fit.is_indicative else fit.loss_by,
                tone=warning.tone if warning else "plain",
            )
        if chosen.milliseconds is not None:
            yield ui.Tile("invoke", f"{chosen.milliseconds:,.2f} ms")
    tried = sum(1 for one in fit.candidates if one.verdict != "not tried")
    fitting = sum(1 for one in fit.candidates if one.fits)
    yield ui.Tile("tried", f"{tried}", f"{fitting} of them fit; {fit.seconds:,.1f} s")


def _no_candidate(fit: Fit) -> str:
    """A search that was stopped has not seen them all."""
    return "no candidate tried so far" if fit.stopped else "no candidate"


def _sections(fit: Fit) -> Iterator[ui.Section]:
    if fit.chosen is not None:
        yield ui.Section("chosen", "Chosen", (_chosen(fit, fit.chosen), *_remarks(fit)))
    elif fit.shortage is not None:
        blocks = (*_shortage(fit, fit.shortage), *_remarks(fit))
        yield ui.Section("shortage", f"Why {_no_candidate(fit)} fits", blocks)
    elif remarks := tuple(_remarks(fit)):
        yield ui.Section("remarks", "Remarks", remarks)
    if fit.candidates:
        blocks = (*_front(fit), _candidates(fit))
        yield ui.Section("candidates", "Candidates", blocks, detail=0 if fit.chosen or fit.every else 1)
    if fit.snippet:
        block = ui.Pre("Python code with the measured settings", fit.snippet, is_open=True)
        yield ui.Section("snippet", "Usage", (block,))


def _chosen(fit: Fit, chosen: Outcome) -> ui.Table:
    return ui.Table("chosen-table", "Chosen", ui.columns(" | : wide"), list(_facts(fit, chosen)))


def _facts(fit: Fit, chosen: Outcome) -> Iterator[tuple[str, str]]:
    planned = "" if chosen.peak_bytes is None else f"{format_bytes(chosen.peak_bytes)} planned"
    if chosen.measured_peak_bytes is None:
        yield "memory", f"{planned}, not measured"
    else:
        yield "memory", f"{format_bytes(chosen.measured_peak_bytes)} measured, {planned}"
    size, before = chosen.file_bytes or 0, max(fit.original_bytes, 1)
    yield "file", f"{format_bytes(size)}, {size / before:.0%} of {format_bytes(before)}"
    if chosen.milliseconds is not None:
        yield "time", f"{_milliseconds(chosen.milliseconds)} ms per run on this machine"
    yield "loss", _loss_in_full(fit, chosen)
    yield "changes", _CHANGED[chosen.tag]
    notes = "; ".join((*chosen.notes, *filter(None, [chosen.reason])))
    if notes:
        yield "notes", notes


def _loss_in_full(fit: Fit, chosen: Outcome) -> str:
    if chosen.loss is None:
        return "unknown"
    indicative = ", on random inputs: indicative only" if fit.is_indicative else ""
    scores = ""
    if chosen.score is not None and fit.original_score is not None:
        scores = f", {chosen.score:.5g} instead of {fit.original_score:.5g}"
    samples = f", {plural(fit.samples, 'sample')}" if fit.samples and not scores else ""
    return f"{loss_words(fit, chosen.loss)} ({safe(fit.loss_by, 120)}{scores}{samples}{indicative})"


def _milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _remarks(fit: Fit) -> Iterator[ui.Block]:
    """What else is to be said of the search, and the files that were written."""
    if fit.stopped:
        yield ui.Words(_STOPPED[fit.stopped], tone="warn")
    if fit.refusal:
        yield ui.Command(_asking_why(fit), "To find the reason:")
    lines = [f"note: {note}" for note in fit.notes] + [f"written: {path}" for path in fit.written_files]
    if lines:
        yield ui.Listing(tuple(lines))


def _asking_why(fit: Fit) -> str:
    """The command that says why a model does not run: its plan where nothing is run, on microcontrollers."""
    if any(row.candidate.accelerator == "tflm" for row in fit.candidates):
        return f"outlive plan {shell_path(fit.source or 'MODEL')} --accelerator tflm"
    return f"outlive diagnose {shell_path(fit.source or 'MODEL')}"


def _front(fit: Fit) -> Iterator[ui.Block]:
    known = [one for one in fit.candidates if one.needed_bytes is not None and one.loss is not None]
    if len(known) < 2:
        return
    front = least_loss(known)
    points = [
        {
            "x": one.needed_bytes,
            "y": one.loss,
            "name": safe(str(one.candidate), 120),
            "tone": _TONES[one.verdict],
            "front": one in front,
            "chosen": one is fit.chosen or one == fit.chosen,
            "words": _words(one),
        }
        for one in known
    ]
    names = "; ".join(safe(str(one.candidate), 80) for one in front[:6])
    yield ui.Chart(
        "front",
        "Memory against loss",
        f"{plural(len(known), 'candidate')}. Pareto front by memory, smallest first: {names}.",
        {
            "kind": "points",
            "x_kind": "bytes",
            "x_name": "memory",
            "y_kind": "share" if fit.loss_is_share else "number",
            "y_name": "loss",
            "points": points,
            "height": 340,
            "moments": [
                {
                    "x": fit.budget.ram_bytes,
                    "name": f"budget, {format_bytes(fit.budget.ram_bytes, fit.budget.ram_bytes)}",
                }
            ]
            if fit.budget.ram_bytes <= 3 * max(one.needed_bytes or 0 for one in known)
            else [],
            "legend": [
                {"name": word, "tone": tone}
                for word, tone in _TONES.items()
                if any(one.verdict == word for one in known)
            ],
        },
    )


def least_loss(known: Sequence[Outcome]) -> list[Outcome]:
    """Those of which no other has both less memory and less loss, from little memory to much."""
    found: list[Outcome] = []
    for one in sorted(known, key=lambda item: (item.needed_bytes or 0, item.loss or 0.0)):
        if not found or (one.loss or 0.0) < (found[-1].loss or 0.0):
            found.append(one)
    return found


def _words(one: Outcome) -> list[str]:
    said = [one.verdict + (f": {safe(one.reason, 160)}" if one.reason else "")]
    if one.file_bytes is not None:
        said.append(f"file {format_bytes(one.file_bytes)}")
    if one.milliseconds is not None:
        said.append(f"{one.milliseconds:,.2f} ms")
    if one.on_front:
        said.append("on the Pareto front of memory, file, time and loss")
    return said


def _candidates(fit: Fit) -> ui.Table:
    rows = sorted(fit.candidates, key=lambda row: _weight(fit, row))
    return ui.Table(
        "candidates-table",
        f"{plural(len(rows), 'candidate')}; ▸ marks the Pareto front",
        ui.columns(
            " | #: number -v | candidate: wide | run with",
            ui.Column("verdict", "chip", _TONES),
            "memory: bytes | measured: bytes -v | file: bytes -v | ms: number",
            ui.Column("loss", "share" if fit.loss_is_share else "number"),
            "changes: -v | reason: wide -v | notes: wide -v",  # -v: each reason may take two lines
        ),
        [_row(fit, row) for row in rows],
        brief=len(rows) if fit.every else _BRIEF,
    )


def _weight(fit: Fit, row: Outcome) -> tuple[bool, bool, bool, bool, float]:
    """What is worth a line first: the chosen one, what fits, what was tried, what is small."""
    chosen = fit.chosen is not None and row.rank == fit.chosen.rank
    size = math.inf if row.needed_bytes is None else row.needed_bytes
    return (not chosen, not row.fits, row.file_bytes is None, not row.on_front, size)


def _row(fit: Fit, row: Outcome) -> tuple[ui.Cell, ...]:
    chosen = fit.chosen is not None and row.rank == fit.chosen.rank
    return (
        "●" if chosen else "▸" if row.on_front else "",
        row.rank,
        ", ".join(row.candidate.steps) or "unchanged",
        "any" if row.verdict == "refused" and row.file_bytes is None else _setting(row.candidate),
        row.verdict,
        row.needed_bytes,
        row.measured_peak_bytes,
        row.file_bytes,
        None if row.milliseconds is None else float(f"{row.milliseconds:.3g}"),
        row.loss,
        _CHANGES[row.tag],
        None if chosen else _missing(fit, row) or row.reason,
        "; ".join(row.notes),
    )


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


def _shortage(fit: Fit, shortage: Shortage) -> Iterator[ui.Block]:
    smallest = shortage.smallest
    needed = "?" if smallest.needed_bytes is None else f"{smallest.needed_bytes:,} bytes"
    how = "planned" if smallest.measured_peak_bytes is None else "measured"
    tried = "Smallest tried" if fit.stopped else "Smallest"
    yield ui.Words(f"{tried}: {smallest.candidate}, {needed} {how}: {smallest.reason}", tone="warn")
    if shortage.lower_bound_bytes is not None:
        least = f"{shortage.lower_bound_bytes:,} bytes"
        none = _no_candidate(fit).capitalize()
        yield ui.Words(f"{none} can need less than {least}, which is alive at once.")
    if shortage.op is not None:
        named = ", ".join(f"{safe(name, 60)} ({format_bytes(size)})" for name, size in shortage.tensors[:3])
        yield ui.Words(f"Peak at operator {shortage.op}, {safe(shortage.op_type, 40)}: {named}.")
    if shortage.tensors:
        yield ui.Table(
            "shortage-tensors",
            "Largest tensors at the peak",
            ui.columns("tensor: mono wide | size: bar"),
            shortage.tensors,
            is_folded=True,
        )
    if shortage.needed_changes:
        yield ui.Listing(shortage.needed_changes, title="Required changes")
