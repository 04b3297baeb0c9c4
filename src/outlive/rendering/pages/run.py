"""A run: how it ended, memory over time beside what was planned, stages, outputs, last words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from outlive.arena.plan import Plan, predict_stages
from outlive.meter import Point, thin
from outlive.process.flight import Flight
from outlive.rendering import page as ui
from outlive.rendering.pages.read import model_sections, model_tiles, what_is_known
from outlive.units import format_bytes, format_shape

_MOST_POINTS = 2000
_MOST_STAGES = 500


def page(flight: Flight) -> ui.Page:
    """The page of a run."""
    model, plan = flight.source_model, flight.plan
    findings = () if flight.judge is None else flight.findings
    sections = [*ui.findings_sections(findings, "Findings"), flight_section(flight, plan)]
    sections += model_sections(model, what_is_known(plan, flight))
    tiles = [*flight_tiles(flight, plan), *model_tiles(model)]
    return ui.make_page("run", flight.path, flight_verdict(flight), tiles, sections)


def flight_verdict(flight: Flight) -> ui.PageVerdict:
    """How a run ended, in a word and a sentence."""
    if flight.died:
        how = flight.signal or (f"exit code {flight.exit_code}" if flight.exit_code is not None else "unseen")
        ended = f"ended at the {flight.ended_by} limit" if flight.ended_by else f"crashed: {how}"
        where = "" if flight.op is None else f", in {flight.op.type}"
        sentence = f"The model crashed in {flight.stage}{where}. Your program is not affected."
        return ui.PageVerdict("bad", ended, sentence)
    if flight.error_type:
        said = " ".join(flight.error_text.split())[:400]
        return ui.PageVerdict("bad", "refused by the runtime", f"{flight.error_type}: {said}")
    return ui.PageVerdict("good", "runs", _ran(flight))


def _ran(flight: Flight) -> str:
    seconds = dict(flight.stages).get("invoke")
    took = "" if seconds is None else f"invoke took {seconds * 1000:,.2f} ms"
    peak = "" if flight.peak_bytes is None else f", peak memory {format_bytes(flight.peak_bytes)}"
    return f"{took}{peak}." if took else ""


def flight_tiles(flight: Flight, plan: Plan | None = None) -> Iterator[ui.Tile]:
    """Time and memory, and how far the plan was off."""
    if flight.peak_bytes is not None:
        note = "until the crash" if flight.died else "private, above the worker's baseline"
        if plan is not None and plan.peak_bytes and not flight.died and not flight.error_type:
            off = (flight.peak_bytes - plan.peak_bytes) / plan.peak_bytes
            note = f"{off:+.0%} against the plan"
        yield ui.Tile("peak memory, measured", format_bytes(flight.peak_bytes), note)
    invokes = [seconds for stage, seconds in flight.stages if stage.startswith("invoke")]
    if invokes and not flight.died:
        note = "the first" if len(invokes) == 1 else f"the best of {len(invokes)}"
        yield ui.Tile("invoke", f"{min(invokes) * 1000:,.2f} ms", note)


def flight_section(flight: Flight, plan: Plan | None = None) -> ui.Section:
    """Everything that was seen of a run."""
    blocks: list[ui.Block] = []
    if len(flight.timeline) > 2:
        blocks.append(replace(memory_chart(flight, plan), detail=1))
    else:
        blocks.append(ui.Words("The run was too short for memory measurements.", detail=1))
    blocks.append(_stages(flight, plan))
    blocks += _outputs(flight)
    blocks += _last_words(flight)
    return ui.Section("run", "Run", tuple(blocks), lead=_lead(flight))


def _lead(flight: Flight) -> str:
    runtime = " ".join(str(flight.runtime[key]) for key in ("runtime", "version") if flight.runtime.get(key))
    with_what = f" with {runtime}" if runtime else ""
    return f"Run{with_what} in a separate process."


def memory_chart(flight: Flight, plan: Plan | None, ident: str = "over-time") -> ui.Chart:
    """Private memory over time; the stages as moments, what the plan expects of each as a dashed line."""
    points = thin(flight.timeline, _MOST_POINTS)
    return timeline_chart(points, _expected(points, plan), len(flight.timeline), ident)


def timeline_chart(
    points: Sequence[Point], expected: Sequence[int] = (), measured: int = 0, ident: str = "over-time"
) -> ui.Chart:
    """Private memory over time, from `measured` points, with marks as moments."""
    peak = max(points, key=lambda point: point.bytes)
    curves = [ui.curve("measured", "0", "area", [point.bytes for point in points])]
    if expected:
        curves.append(ui.curve("planned", "1", "dash", expected))
    moments = [{"x": point.seconds, "name": point.mark} for point in points if point.mark][:200]
    summary = (
        f"Peak {format_bytes(peak.bytes)} of private memory after {peak.seconds * 1000:,.0f} ms"
        f"; {measured or len(points):,} measurements in {points[-1].seconds * 1000:,.0f} ms."
    )
    if expected:
        summary += f" The plan expects {format_bytes(max(expected))}."
    data = ui.lines(
        (point.seconds for point in points),
        ("seconds", "time"),
        ("bytes", "private memory"),
        *curves,
        moments=moments,
        worst={"x": peak.seconds, "y": peak.bytes, "name": f"peak: {format_bytes(peak.bytes)}"},
        legend=ui.legend(curves),
    )
    columns = ui.columns("seconds: number | private: bytes | resident: bytes | stage done")
    rows = [(round(point.seconds, 5), point.bytes, point.rss_bytes, point.mark) for point in points]
    table = ui.Table(f"{ident}-table", "Data", columns, rows, is_folded=True)
    title = "Memory over time" + (", measured against planned" if expected else "")
    return ui.Chart(ident, title, summary, data, table, detail=0)


def _expected(points: Sequence[Point], plan: Plan | None) -> list[int]:
    """What the plan expects at each point: that of the stage that is going on, marks being set at its end."""
    stages = {stage.name: stage.bytes for stage in predict_stages(plan)} if plan is not None else {}
    if not stages:
        return []
    found: list[int] = []
    now = "load"
    for point in points:
        found.append(stages[now])
        if point.mark == "load":
            now = "allocate"
        elif point.mark == "set":
            now = "invoke"
    return found


def _stages(flight: Flight, plan: Plan | None) -> ui.Table:
    marks = {point.mark: point.bytes for point in flight.timeline if point.mark}
    planned = {stage.name: stage.bytes for stage in predict_stages(plan)} if plan is not None else {}
    columns = [*ui.columns("stage | milliseconds: number | memory after: bar")]
    if planned:
        columns.append(ui.Column("planned", "bytes"))
    rows: list[tuple[Any, ...]] = [
        (stage, round(seconds * 1000, 3), marks.get(stage), *((planned.get(stage),) if planned else ()))
        for stage, seconds in flight.stages[:_MOST_STAGES]
    ]
    return ui.Table("stages", "Stages", tuple(columns), rows, detail=1)


def _outputs(flight: Flight) -> Iterator[ui.Block]:
    if flight.outputs:
        yield ui.Table(
            "outputs",
            "Outputs",
            ui.columns("name: mono wide | shape: mono | type: mono | minimum: number | maximum: number"),
            [
                (one.name, format_shape(one.shape), one.dtype, one.minimum, one.maximum)
                for one in flight.outputs
            ],
        )


def _last_words(flight: Flight) -> Iterator[ui.Block]:
    if flight.frames:
        yield ui.Pre("Native stack", "\n".join(flight.frames), is_open=flight.died)
    if flight.fault_trace.strip():
        yield ui.Pre("Python stack", flight.fault_trace)
    if flight.stderr_tail.strip():
        yield ui.Pre("Standard error", flight.stderr_tail)
