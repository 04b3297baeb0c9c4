"""Events of the Trace Event Format, which Perfetto and chrome://tracing read.

{"traceEvents": [{"name", "ph", "ts", "pid", "tid", ...}, ...], "otherData": {...}}

`ts` and `dur` are whole microseconds, never negative, and events stand in the order of their time. Of the
format's phases these are used: M (names of tracks), X (something that lasts), C (a counter), i (a moment), b
and e (something that lasts beside others).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from outlive.records import SCHEMA, Json

# Phases whose events have no place in time come first; of one moment, ends come before beginnings.
_ORDER = {"M": 0, "e": 1, "X": 2, "b": 3, "C": 4, "i": 5}


def trace(events: Iterable[Json], about: Mapping[str, object]) -> Json:
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


def name_process(pid: int, name: str) -> Json:
    """What a process is called."""
    return {"name": "process_name", "ph": "M", "ts": 0, "pid": pid, "tid": 0, "args": {"name": name}}


def name_track(pid: int, tid: int, name: str) -> Json:
    """What a track of slices is called."""
    return {"name": "thread_name", "ph": "M", "ts": 0, "pid": pid, "tid": tid, "args": {"name": name}}


def slice_of(
    name: str, kind: str, start_us: int, end_us: int, pid: int, tid: int, args: Mapping[str, object]
) -> Json:
    """Something that lasts from one moment to another."""
    return {
        "name": name,
        "cat": kind,
        "ph": "X",
        "ts": start_us,
        "dur": max(0, end_us - start_us),
        "pid": pid,
        "tid": tid,
        "args": dict(args),
    }


def lasting(
    name: str, kind: str, start_us: int, end_us: int, pid: int, mark: str, args: Mapping[str, object]
) -> tuple[Json, Json]:
    """Something that lasts while others do: a pair of events with one `id2`, which is the process's own."""
    both: Json = {"name": name, "cat": kind, "id2": {"local": mark}, "pid": pid, "tid": 0}
    return ({**both, "ph": "b", "ts": start_us, "args": dict(args)}, {**both, "ph": "e", "ts": end_us})


def counter(name: str, moment_us: int, pid: int, value: int) -> Json:
    """What a counter stands at from this moment on."""
    return {"name": name, "ph": "C", "ts": moment_us, "pid": pid, "tid": 0, "args": {"bytes": value}}


def moment(name: str, moment_us: int, pid: int, tid: int, args: Mapping[str, object]) -> Json:
    """A moment worth a flag."""
    return {
        "name": name,
        "cat": "moment",
        "ph": "i",
        "s": "p",
        "ts": moment_us,
        "pid": pid,
        "tid": tid,
        "args": dict(args),
    }
