"""What accelerators take, as blocks: a table of all, what each refuses and why, and what documents say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from outlive.accelerators import Accelerator, Coverage
from outlive.finding import Finding
from outlive.model import Model
from outlive.rendering.page import (
    Block,
    Chart,
    Column,
    Listing,
    Page,
    PageVerdict,
    Section,
    Table,
    Tile,
    findings_sections,
    make_page,
)
from outlive.rendering.pages.read import model_section, operators_section, what_is_known
from outlive.units import plural

TONES = {
    "runs": "good",
    "compiles": "good",
    "differs": "warn",
    "refused": "warn",
    "died": "bad",
    "ended": "bad",
    "absent": "plain",
}


def coverage_verdict(coverage: Coverage) -> PageVerdict:
    """Which accelerators run the model, and the quickest."""
    # What only compiles here, for another chip, says nothing of a run.
    here = [one for one in coverage.accelerators if one.available and one.outcome != "compiles"]
    good = [one for one in here if one.outcome == "runs"]
    dead = [one for one in here if one.death is not None]
    best = coverage.best
    sentence = ""
    if best is not None and best.milliseconds is not None:
        sentence = f"The quickest that agrees with the others is {best.title}: {best.milliseconds:,.2f} ms."
    if dead:
        names = ", ".join(one.title for one in dead)
        return PageVerdict(
            tone="bad", word=f"{names} {'dies' if len(dead) == 1 else 'die'} on it", sentence=sentence
        )
    tone = "good" if len(good) == len(here) else "warn"
    return PageVerdict(
        tone="good" if tone == "good" else "warn",
        word=f"{len(good)} of {plural(len(here), 'accelerator')} here run it and agree",
        sentence=sentence,
    )


def coverage_tiles(coverage: Coverage) -> Iterator[Tile]:
    """How much the first of them take."""
    for one in [one for one in coverage.accelerators if one.ops_taken is not None][:4]:
        yield Tile(label=one.title, value=f"{one.ops_taken} of {one.ops_total}", note="operators taken")


def coverage_section(coverage: Coverage) -> Section:
    """Each accelerator, tried in a process of its own."""
    blocks: list[Block] = [_table(coverage), *_times(coverage), *_refusals(coverage), *_notes(coverage)]
    if coverage.documented:
        blocks.append(_documented(coverage))
    return Section(
        id="accelerators",
        title="Accelerators",
        blocks=tuple(blocks),
        lead="Each was tried for real, in a process of its own, and held against the reference kernels.",
    )


def _table(coverage: Coverage) -> Table:
    return Table(
        id="accelerators-table",
        caption="What each takes and does",
        columns=(
            Column(title="accelerator", wide=True),
            Column(title="it", kind="chip", tones=TONES),
            Column(title="operators taken", kind="number"),
            Column(title="of", kind="number"),
            Column(title="parts", kind="number"),
            Column(title="milliseconds", kind="number"),
            Column(title="peak", kind="bytes"),
            Column(title="largest difference", kind="number"),
            Column(title="where, or why not"),
        ),
        rows=[_row(one) for one in coverage.accelerators],
    )


def _row(one: Accelerator) -> tuple[Any, ...]:
    difference = None if one.difference is None else one.difference.largest
    said = one.unavailable or one.error or (one.death.headline if one.death is not None else one.device)
    return (
        one.title,
        one.outcome,
        one.ops_taken,
        one.ops_total or None,
        one.partitions,
        one.milliseconds,
        one.peak_bytes,
        difference,
        said,
    )


def _times(coverage: Coverage) -> Iterator[Block]:
    timed = [one for one in coverage.accelerators if one.milliseconds is not None]
    if len(timed) < 2:
        return
    quick = min(timed, key=lambda one: one.milliseconds or 0.0)
    data = {
        "kind": "lines",
        "x": list(range(len(timed))),
        "x_kind": "none",
        "x_name": "accelerator",
        "y_kind": "number",
        "y_name": "milliseconds",
        "height": 220,
        "labels": [one.title for one in timed],
        "series": [
            {
                "name": "milliseconds",
                "tone": "0",
                "style": "bars",
                "values": [one.milliseconds for one in timed],
            }
        ],
        "x_labels": [one.name for one in timed],
    }
    yield Chart(
        id="times",
        title="Milliseconds per invoke",
        summary="; ".join(f"{one.title} {one.milliseconds:,.2f} ms" for one in timed)
        + f". The quickest is {quick.title}.",
        data=data,
    )


def _refusals(coverage: Coverage) -> Iterator[Block]:
    rows = [
        (one.title, item.op, item.type, item.reason) for one in coverage.accelerators for item in one.refused
    ]
    if rows:
        yield Table(
            id="refusals",
            caption="Operators that were left to the CPU, and why",
            columns=(
                Column(title="accelerator"),
                Column(title="op", kind="number"),
                Column(title="type", kind="mono"),
                Column(title="reason", wide=True),
            ),
            rows=rows[:20_000],
        )


def _notes(coverage: Coverage) -> Iterator[Block]:
    said = [f"{one.title}: {note}" for one in coverage.accelerators for note in one.notes]
    said += [f"{one.title} is not here: {one.install}" for one in coverage.accelerators if one.install]
    if said:
        yield Listing(title="Notes", items=tuple(said[:60]))


def _documented(coverage: Coverage) -> Table:
    return Table(
        id="documented",
        caption="Not here, and judged by their documents alone",
        columns=(
            Column(title="accelerator"),
            Column(title="operators listed", kind="number"),
            Column(title="of", kind="number"),
            Column(title="document", wide=True),
        ),
        rows=[
            (
                one.title,
                one.ops_listed,
                one.ops_total,
                f"{one.document}, {one.version} {one.date}".strip(", "),
            )
            for one in coverage.documented
        ],
        is_folded=True,
    )


def delegates_page(coverage: Coverage, findings: Sequence[Finding], model: Model | None = None) -> Page:
    """The page of `outlive delegates`."""
    sections = [*findings_sections(findings), coverage_section(coverage)]
    if model is not None:
        sections += [operators_section(model, what_is_known(coverage=coverage)), model_section(model)]
    tiles = tuple(coverage_tiles(coverage))
    return make_page("delegates", coverage.path, coverage_verdict(coverage), tiles, sections)
