"""A run on a line of time: a slice for each stage, memory as counters, flags at its peak and its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outlive.finding import Finding
from outlive.names import safe
from outlive.process.flight import Flight
from outlive.records import Json
from outlive.rendering.media.trace_events import counter, moment, name_process, name_track, slice_of, trace
from outlive.units import format_bytes

_MICROSECONDS = 1_000_000
_STAGES = 1  # the track of slices
_NAME = 120


def run_trace(flight: Flight, path: str | None, findings: Sequence[Finding]) -> Json:
    """The document of `outlive run --format trace`."""
    about = {"model": safe(path or "model given as bytes", _NAME), "died": flight.died}
    return trace(_events(flight, path, findings), about)


def _events(flight: Flight, path: str | None, findings: Sequence[Finding]) -> Iterator[Json]:
    pid = flight.pid or 1
    slices = place_stages(flight)
    begin = min((start for _, start, _ in slices), default=0.0)
    origin = min(0.0, begin)

    def clock(seconds: float) -> int:
        return max(0, round((seconds - origin) * _MICROSECONDS))

    yield name_process(pid, f"worker of {safe(path or 'a model', _NAME)}")
    yield name_track(pid, _STAGES, "stages")
    held = {point.mark: point for point in flight.timeline if point.mark}
    for name, start, end in slices:
        point = held.get(name)
        args = {} if point is None else {"private_bytes": point.bytes, "resident_bytes": point.rss_bytes}
        yield slice_of(name, "stage", clock(start), clock(end), pid, _STAGES, args)
    for point in flight.timeline:
        yield counter("private memory above the baseline", clock(point.seconds), pid, point.bytes)
        yield counter("resident memory", clock(point.seconds), pid, point.rss_bytes)
    if flight.timeline:
        most = max(flight.timeline, key=lambda point: point.bytes)
        args = {"private_bytes": most.bytes}
        yield moment(f"peak: {format_bytes(most.bytes)}", clock(most.seconds), pid, _STAGES, args)
    last = max([*(end for _, _, end in slices), *(point.seconds for point in flight.timeline)], default=0.0)
    for finding in findings:
        yield moment(f"{finding.code}: {finding.headline}", clock(last), pid, _STAGES, _words(finding))


def place_stages(flight: Flight) -> tuple[tuple[str, float, float], ...]:
    """Each stage with the seconds of its start and its end; none begins before the one before it ended.

    A stage's mark is its end. A death leaves no mark: then it begins where the last one ended. One that had
    no time of its own, because the run ended in it, lasts to the end of what was seen.
    """
    marks = {point.mark: point.seconds for point in flight.timeline if point.mark}
    placed: list[tuple[str, float, float]] = []
    for name, seconds in flight.stages:
        before = placed[-1][2] if placed else 0.0
        start = marks[name] - seconds if name in marks else before
        start = max(start, before) if placed else start
        placed.append((name, start, max(start, marks.get(name, start + seconds))))
    seen = {name.partition(" ")[0] for name, _, _ in placed}
    if (flight.died or flight.error_type) and flight.stage not in seen:
        start = placed[-1][2] if placed else 0.0
        end = max((point.seconds for point in flight.timeline), default=start)
        placed.append((flight.stage, start, max(start, end)))
    return tuple(placed)


def _words(finding: Finding) -> Json:
    return {"where": finding.where, "why": finding.why, "severity": finding.severity.value}
