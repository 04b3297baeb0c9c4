"""What grows: a curve for each cycle, each quantity's rate, what became more and who keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from outlive.growth.growth import LEAKS, NO_LEAK, Census, CycleGrowth, Growth
from outlive.growth.stage_verdict import describe_forecast
from outlive.growth.trend import WARM_UP_SHARE
from outlive.rendering import page as ui
from outlive.rendering.pages.run import memory_chart
from outlive.units import format_bytes, plural

_CURVES = (
    ("held_bytes", "resident memory", "0"),
    ("heap_bytes", "native heap", "1"),
    ("mapped_bytes", "mapped memory", "4"),
)
_WORDS = {
    **{name: words for name, words, _ in _CURVES},
    "objects": "Python objects",
    "descriptors": "descriptors",
    "threads": "threads",
}
_MEANING = {"grows": "grows", "flat": "does not grow", "unclear": "unclear"}
_TONES = {"grows": "bad", "does not grow": "good", "unclear": "warn"}
_MOST_POINTS = 1500


def page(growth: Growth) -> ui.Page:
    """The page of what grows."""
    sections = [*ui.findings_sections(growth.findings), *_sections(growth)]
    return ui.make_page("leak", growth.what, _verdict(growth), _tiles(growth), sections)


def _verdict(growth: Growth) -> ui.PageVerdict:
    """The verdict of the worst cycle."""
    word = "crashed during the rounds" if growth.died else growth.verdict
    sentence = f"{growth.worst.cycle}: {growth.worst}." if len(growth.stages) > 1 else f"{growth.worst}."
    return ui.PageVerdict("bad" if growth.died else _tone(growth.verdict), word, sentence)


def _tone(verdict: str) -> ui.Tone:
    return "bad" if verdict == LEAKS else "good" if verdict == NO_LEAK else "warn"


def _tiles(growth: Growth) -> Iterator[ui.Tile]:
    """A tile for each cycle."""
    for stage in growth.stages:
        rate = f"{format_bytes(round(stage.bytes_per_iteration))} per round"
        value = rate if stage.verdict == LEAKS else stage.verdict if stage.rounds else "not measured"
        note = plural(stage.calls, "round")
        yield ui.Tile(stage.cycle, value, note, tone=_tone(stage.verdict))


def _sections(growth: Growth) -> Iterator[ui.Section]:
    """A section for each cycle."""
    several = len(growth.stages) > 1
    for number, stage in enumerate(growth.stages):
        title = f"Cycle {stage.cycle}" if several else "Growth"
        yield ui.Section(f"cycle-{number}", title, tuple(_stage(stage, number, several)))


def _stage(stage: CycleGrowth, number: int, is_one_of_several: bool) -> Iterator[ui.Block]:
    if not stage.rounds:
        yield ui.Words(f"Not measured: {stage.problem}", tone="warn")
        return
    verdict = str(stage)
    if is_one_of_several:
        yield ui.Words(f"{verdict}.", tone=_tone(stage.verdict))
    for said in (stage.problem, stage.reason):
        if said and said not in verdict:
            yield ui.Words(said, tone="warn")
    if len(stage.rounds) > 2:
        yield _curve(stage, number, is_one_of_several and stage.verdict != LEAKS)
    if stage.trends:
        yield _rates(stage, number, 1 if is_one_of_several and stage.verdict != LEAKS else 0)
    if stage.ends:
        yield ui.Listing(tuple(describe_forecast(end) for end in stage.ends), title="Forecast")
    if stage.census is not None:
        yield from _census(stage.census, number)
    if stage.flight is not None and len(stage.flight.timeline) > 2:
        yield memory_chart(stage.flight, None, f"death-{number}")


def _curve(stage: CycleGrowth, number: int, is_folded: bool) -> ui.Chart:
    rounds = _thinned(stage.rounds)
    curves = []
    for name, words, tone in _CURVES:
        values = [getattr(row, name) for row in rounds]
        if all(value is not None for value in values):
            curves.append(ui.curve(words, tone, "line", [value - values[0] for value in values]))
    warm, said = rounds[-1].calls * WARM_UP_SHARE, str(stage)
    data = ui.lines(
        (row.calls for row in rounds),
        ("rounds", "rounds"),
        ("bytes", "growth since the first round"),
        *curves,
        shades=[{"start": rounds[0].calls, "end": warm}],
        moments=[{"x": warm, "name": "warm-up ends"}],
        legend=ui.legend(curves),
    )
    summary = f"{said[0].upper()}{said[1:]}. The shaded warm-up does not count."
    return ui.Chart(f"growth-{number}", "Growth over the rounds", summary, data, is_folded=is_folded)


def _thinned(rows: Sequence[Any]) -> list[Any]:
    kept = list(rows[:: max(1, len(rows) // _MOST_POINTS)])
    return kept if kept[-1] is rows[-1] else [*kept, rows[-1]]


def _rates(stage: CycleGrowth, number: int, detail: int) -> ui.Table:
    def said(name: str, value: float) -> str:
        return format_bytes(round(value)) if name.endswith("_bytes") else f"{value:.3g}"

    return ui.Table(
        f"rates-{number}",
        "Rates with 99 % intervals",
        ui.columns(
            "quantity | per round: mono | from: mono | to: mono", ui.Column("verdict", "chip", _TONES)
        ),
        [
            (
                _WORDS.get(name, name),
                said(name, t.per_round),
                said(name, t.low),
                said(name, t.high),
                _MEANING[t.verdict],
            )
            for name, t in stage.trends.items()
        ],
        detail=detail,
    )


def _census(census: Census, number: int) -> Iterator[ui.Block]:
    if census.keepers:
        yield ui.Table(
            f"keepers-{number}",
            f"Growing Python objects, over {plural(census.rounds, 'round')}",
            ui.columns(
                "type: mono | per round: number | bytes each: bytes | kept in: mono | kept by: mono wide"
            ),
            [(k.kind, k.per_round, k.bytes_each, k.container, " → ".join(k.kept_by)) for k in census.keepers],
        )
    for what, rows in (
        ("sites", census.sites),
        ("mappings", census.mappings),
        ("descriptors", census.descriptors),
        ("threads", census.threads),
    ):
        if rows:
            kind = "bytes" if what in ("sites", "mappings") else "number"
            yield ui.Table(
                f"{what}-{number}",
                f"Growing {what}",
                ui.columns(
                    "what: mono wide", ui.Column("per round", "bytes" if kind == "bytes" else "number")
                ),
                rows,
            )
