"""A result on a line of time, for Perfetto and chrome://tracing: the Trace Event Format.

{"traceEvents": [{"name", "ph", "ts", "pid", "tid", ...}, ...], "otherData": {...}}

`ts` and `dur` are whole microseconds, never negative, and events stand in the order of their time. Of the
format's phases these are used: M (names of tracks), X (something that lasts), C (a counter), i (a moment), b
and e (something that lasts beside others).

A run has a slice for each stage, its memory as counters, and flags at its peak and its end. Of a plan nothing
ran: a millisecond stands for an operator, with the bytes alive as a counter and a bar for each tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from outlive.arena.plan import Placement, Plan
from outlive.finding import Finding
from outlive.names import safe
from outlive.process.flight import Flight
from outlive.records import SCHEMA, Json
from outlive.rendering.media.json import dump
from outlive.units import format_bytes

_NAME = 120
# Phases whose events have no place in time come first; of one moment, ends come before beginnings.
_ORDER = {"M": 0, "e": 1, "X": 2, "b": 3, "C": 4, "i": 5}
_STEP_US = 1000
_PROCESS, _TRACK = 1, 1
# More bars than this no viewer shows with pleasure; the largest are kept.
_MOST_TENSORS = 2000
_MICROSECONDS = 1_000_000


def render(result: Any) -> str:
    """The events of a result, by its kind."""
    if result.kind == "plan":
        return dump(plan_trace(result)) + "\n"
    return dump(run_trace(result, result.path, result.findings)) + "\n"


def plan_trace(plan: Plan) -> Json:
    """The document of `outlive plan --format trace`."""
    about = {
        "model": safe(plan.path or "model given as bytes", _NAME),
        "accelerator": plan.accelerator,
        "time": "1 ms stands for one operator; nothing was run",
        "peak_bytes": plan.peak_bytes,
    }
    return _trace(_plan_events(plan), about)


def _plan_events(plan: Plan) -> Iterator[Json]:
    title = f"plan of {safe(plan.path or 'a model', _NAME)}, {plan.accelerator}"
    yield from _names(_PROCESS, title, "operators, in the order they run")
    for number, load in enumerate(plan.ops, 1):
        start = number * _STEP_US
        args = {"op": load.index, "name": safe(load.name, _NAME), "live_bytes": load.live_bytes}
        title = f"{load.index} {safe(load.type, 60)}"
        yield _slice(title, "operator", start, start + _STEP_US, _PROCESS, args)
        yield _counter("bytes alive in the arena", start, _PROCESS, load.live_bytes)
    if plan.ops:
        yield _counter("bytes alive in the arena", (len(plan.ops) + 1) * _STEP_US, _PROCESS, 0)
        yield _worst(plan)
    arena = [place for place in plan.placements if place.subgraph == 0]
    for place in sorted(arena, key=lambda item: -item.size_bytes)[:_MOST_TENSORS]:
        yield from _tensor(place, len(plan.ops), "tensor")
    inside = sorted(plan.workspace_placements, key=lambda item: -item.size_bytes)
    for place in inside[:_MOST_TENSORS]:
        yield from _tensor(place, len(plan.ops), "tensor in the workspace")


def _worst(plan: Plan) -> Json:
    place, load = max(enumerate(plan.ops), key=lambda item: item[1].live_bytes)
    title = f"worst moment: {format_bytes(load.live_bytes)}"
    return _flag(title, (place + 1) * _STEP_US, _PROCESS, {"op": load.index})


def _tensor(place: Placement, ops: int, kind: str) -> tuple[Json, Json]:
    """Alive from before its first operator to after its last."""
    first, last = max(-1, min(place.first_op, ops)), max(-1, min(place.last_op, ops))
    args = {
        "tensor": place.tensor,
        "size_bytes": place.size_bytes,
        "offset_bytes": place.offset_bytes,
        "persistent": place.persistent,
    }
    name = safe(place.name, _NAME) or f"tensor {place.tensor}"
    start, end = (first + 1) * _STEP_US, (last + 2) * _STEP_US
    # Bars beside each other: pairs of events with one `id2`, which is the process's own.
    both: dict[str, Any] = {"cat": kind, "id2": {"local": f"{kind} {place.tensor}"}}
    return _event("b", name, start, _PROCESS, **both, args=args), _event("e", name, end, _PROCESS, **both)


def run_trace(flight: Flight, path: str | None, findings: Sequence[Finding]) -> Json:
    """The document of `outlive run --format trace`."""
    about = {"model": safe(path or "model given as bytes", _NAME), "died": flight.died}
    return _trace(_run_events(flight, path, findings), about)


def _run_events(flight: Flight, path: str | None, findings: Sequence[Finding]) -> Iterator[Json]:
    pid = flight.pid or 1
    slices = place_stages(flight)
    begin = min((start for _, start, _ in slices), default=0.0)
    origin = min(0.0, begin)

    def clock(seconds: float) -> int:
        return max(0, round((seconds - origin) * _MICROSECONDS))

    yield from _names(pid, f"worker of {safe(path or 'a model', _NAME)}", "stages")
    held = {point.mark: point for point in flight.timeline if point.mark}
    for name, start, end in slices:
        point = held.get(name)
        args = {} if point is None else {"private_bytes": point.bytes, "resident_bytes": point.rss_bytes}
        yield _slice(name, "stage", clock(start), clock(end), pid, args)
    for point in flight.timeline:
        yield _counter("private memory above the baseline", clock(point.seconds), pid, point.bytes)
        yield _counter("resident memory", clock(point.seconds), pid, point.rss_bytes)
    if flight.timeline:
        most = max(flight.timeline, key=lambda point: point.bytes)
        args = {"private_bytes": most.bytes}
        yield _flag(f"peak: {format_bytes(most.bytes)}", clock(most.seconds), pid, args)
    last = max([*(end for _, _, end in slices), *(point.seconds for point in flight.timeline)], default=0.0)
    for finding in findings:
        words = {"where": finding.where, "why": finding.why, "severity": finding.severity.value}
        yield _flag(f"{finding.code}: {finding.headline}", clock(last), pid, words)


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


def _trace(events: Iterable[Json], about: Mapping[str, object]) -> Json:
    """The document: the events in the order of their time, and what they are about."""
    ordered = sorted(events, key=_place)
    return {
        "traceEvents": ordered,
        "displayTimeUnit": "ms",
        "otherData": {"schema": SCHEMA, "kind": "trace", **about},
    }


def _place(event: Json) -> tuple[int, int]:
    moment, phase = event["ts"], str(event["ph"])
    assert isinstance(moment, int)
    return (-1 if phase == "M" else moment, _ORDER[phase])


def _event(phase: str, name: str, moment_us: int, pid: int, tid: int = 0, **more: object) -> Json:
    return {"name": name, "ph": phase, "ts": moment_us, "pid": pid, "tid": tid, **more}


def _names(pid: int, process: str, track: str) -> Iterator[Json]:
    """What a process and its track of slices are called."""
    yield _event("M", "process_name", 0, pid, args={"name": process})
    yield _event("M", "thread_name", 0, pid, _TRACK, args={"name": track})


def _slice(name: str, kind: str, start_us: int, end_us: int, pid: int, args: Mapping[str, object]) -> Json:
    """Something that lasts from one moment to another."""
    return _event("X", name, start_us, pid, _TRACK, cat=kind, dur=max(0, end_us - start_us), args=args)


def _counter(name: str, moment_us: int, pid: int, value: int) -> Json:
    """What a counter stands at from this moment on."""
    return _event("C", name, moment_us, pid, args={"bytes": value})


def _flag(name: str, moment_us: int, pid: int, args: Mapping[str, object]) -> Json:
    """A moment worth a flag."""
    return _event("i", name, moment_us, pid, _TRACK, cat="moment", s="p", args=args)
