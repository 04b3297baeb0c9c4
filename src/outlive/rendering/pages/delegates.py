"""What accelerators take: a table of all, what each refuses and why, and what documents say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from outlive.accelerators import Accelerator, Coverage
from outlive.rendering import page as ui
from outlive.rendering.pages.read import model_sections, what_is_known
from outlive.units import format_bytes, plural

TONES = {
    "runs": "good",
    "compiles": "good",
    "differs": "warn",
    "refused": "warn",
    "died": "bad",
    "ended": "bad",
    "absent": "plain",
}

_BRIEF = 3
_MOST_INDICES = 8


def page(coverage: Coverage) -> ui.Page:
    """The page of what accelerators take and do."""
    sections = [*ui.findings_sections(coverage.findings), coverage_section(coverage)]
    sections += model_sections(coverage.source, what_is_known(coverage=coverage))
    return ui.make_page("delegates", coverage.path, _verdict(coverage), _tiles(coverage), sections)


def _verdict(coverage: Coverage) -> ui.PageVerdict:
    """Which accelerators run the model, and the quickest."""
    # What only compiles here, for another chip, says nothing of a run.
    here = [one for one in coverage.accelerators if one.available and one.outcome != "compiles"]
    good = [one for one in here if one.outcome == "runs"]
    dead = [one for one in here if one.death is not None]
    best = coverage.best
    sentence = ""
    if best is not None and best.milliseconds is not None:
        sentence = f"Fastest with correct results: {best.title}, {best.milliseconds:,.2f} ms."
    if dead:
        names = ", ".join(one.title for one in dead)
        word = f"{names} {'crashes' if len(dead) == 1 else 'crash'} on it"
        return ui.PageVerdict("bad", word, sentence)
    word = f"{len(good)} of {plural(len(here), 'available accelerator')} run it with correct results"
    return ui.PageVerdict("good" if len(good) == len(here) else "warn", word, sentence)


def _tiles(coverage: Coverage) -> Iterator[ui.Tile]:
    """How much the first of them take."""
    for one in [one for one in coverage.accelerators if one.ops_taken is not None][:4]:
        yield ui.Tile(one.title, f"{one.ops_taken} of {one.ops_total}", "operators taken")


def coverage_section(coverage: Coverage) -> ui.Section:
    """Each accelerator, tried in a process of its own."""
    blocks: list[ui.Block] = [_table(coverage), *_times(coverage), *_refusals(coverage), *_notes(coverage)]
    if coverage.documented:
        blocks.append(_documented(coverage))
    if coverage.unknown:
        blocks.append(ui.Words(f"Unknown: {', '.join(coverage.unknown)}.", detail=1))
    return ui.Section(
        "accelerators",
        "Accelerators",
        tuple(blocks),
        lead="Each ran in a separate process, and is compared with the reference kernels.",
    )


def _table(coverage: Coverage) -> ui.Table:
    return ui.Table(
        "accelerators-table",
        "Accelerators",
        ui.columns(
            "name | description: wide -v",
            ui.Column("result", "chip", TONES),
            "operators | parts: number -v | ms: number | peak: bytes | largest error: number | reason: wide",
        ),
        [_row(one) for one in coverage.accelerators],
    )


def _row(one: Accelerator) -> tuple[Any, ...]:
    difference = None if one.difference is None else one.difference.largest
    said = one.unavailable or one.error or one.device
    if one.death is not None:
        how = one.death.ended_by or one.death.signal or f"exit code {one.death.exit_code}"
        said = f"{how} at {one.death.stage}: {one.death.headline or one.error}"
    return (
        one.name,
        one.title,
        one.outcome,
        f"{one.ops_taken} of {one.ops_total}" if one.ops_total and one.ops_taken is not None else "",
        one.partitions,
        None if one.milliseconds is None else float(f"{one.milliseconds:.3g}"),
        one.peak_bytes,
        None if difference is None else float(f"{difference:.2g}"),
        said,
    )


def _times(coverage: Coverage) -> Iterator[ui.Block]:
    timed = [one for one in coverage.accelerators if one.milliseconds is not None]
    if len(timed) < 2:
        return
    quick = min(timed, key=lambda one: one.milliseconds or 0.0)
    data = ui.lines(
        range(len(timed)),
        ("none", "accelerator"),
        ("number", "milliseconds"),
        ui.curve("milliseconds", "0", "bars", [one.milliseconds for one in timed]),
        height=220,
        labels=[one.title for one in timed],
        x_labels=[one.name for one in timed],
    )
    times = "; ".join(f"{one.title} {one.milliseconds:,.2f} ms" for one in timed)
    yield ui.Chart("times", "Milliseconds per invoke", f"{times}. Fastest: {quick.title}.", data)


def _refusals(coverage: Coverage) -> Iterator[ui.Block]:
    """What was left to the CPU: by reason, and each operator."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in coverage.accelerators:
        for item in one.refused:
            ops = groups.setdefault((one.name, item.type, item.reason), [])
            ops += [] if item.op is None else [str(item.op)]
    if not groups:
        return
    columns = ui.columns("accelerator | type: mono")
    reason = ui.Column("reason", wide=True)
    yield ui.Table(
        "reasons",
        "Operators on the CPU",
        ui.columns(*columns, "operators: mono", reason),
        [(name, kind, _shortened(ops), why) for (name, kind, why), ops in groups.items()],
        brief=_BRIEF,
    )
    yield ui.Table(
        "refusals",
        "All operators on the CPU",
        ui.columns(columns[0], "op: number", columns[1], reason),
        [
            (one.title, item.op, item.type, item.reason)
            for one in coverage.accelerators
            for item in one.refused
        ][:20_000],
        is_folded=True,
    )


def _shortened(ops: Sequence[str]) -> str:
    return ", ".join(ops[:_MOST_INDICES]) + (" ..." if len(ops) > _MOST_INDICES else "")


def _notes(coverage: Coverage) -> Iterator[ui.Block]:
    said = [f"{one.name}: {words}" for one in coverage.accelerators for words in _remarks(one)]
    if said:
        yield ui.Listing(tuple(said[:60]), title="Notes")
    missing = [f"{one.name}: {one.install}" for one in coverage.accelerators if one.install]
    if missing:
        yield ui.Listing(tuple(missing), title="To install the missing accelerators", detail=1)


def _remarks(one: Accelerator) -> Iterator[str]:
    """What is worth saying of an accelerator beyond its row."""
    if one.is_software:
        yield f"runs on {one.device or 'software'}, a software renderer on the CPU"
    if one.culprit is not None:
        listed = ", ".join(f"{o} {t}" for o, t in zip(one.culprit.ops, one.culprit.types, strict=True))
        yield f"operator {listed} is the cause: a model of only that {one.culprit.how}"
    if one.not_compared:
        yield f"not compared: {one.not_compared}"
    if one.difference is not None and not one.difference.is_normal:
        yield f"difference {one.difference.largest:.2g}, tolerance {one.difference.allowed:.2g}"
    if one.agrees_with:
        standing = one.difference.against if one.difference is not None else "the others"
        yield f"agrees with {', '.join(one.agrees_with)}; only {standing} differs"
    if one.crossings and one.refused:
        size = format_bytes(sum(crossing.bytes for crossing in one.crossings))
        yield f"moves {plural(len(one.crossings), 'tensor')}, {size}, in each run"
    yield from one.notes
    if one.from_cache:
        yield "from the cache; --no-cache tests it again"


def _documented(coverage: Coverage) -> ui.Table:
    return ui.Table(
        "documented",
        "Not available here; from documentation only",
        ui.columns("accelerator | operators listed: number | of: number | document: wide"),
        [
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
