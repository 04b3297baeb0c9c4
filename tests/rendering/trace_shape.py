"""What the Trace Event Format asks of a document, checked without the code that makes one.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

PHASES = {"M", "X", "C", "i", "b", "e"}


def complaints(document: Any) -> list[str]:
    """What a viewer could not read, or would show wrongly."""
    if not isinstance(document.get("traceEvents"), list):
        return ["traceEvents is no list"]
    events = document["traceEvents"]
    found = [f"event {place}: {words}" for place, event in enumerate(events) for words in _event(event)]
    if found:
        return found
    found += _order(events)
    found += _pairs(events)
    found += _slices(events)
    if document.get("displayTimeUnit") not in ("ms", "ns"):
        found.append("displayTimeUnit is neither ms nor ns")
    return found


def _event(event: Any) -> Iterator[str]:
    phase = event.get("ph")
    if phase not in PHASES:
        yield f"phase {phase!r}"
    if not isinstance(event.get("name"), str) or not event["name"]:
        yield "no name"
    for field in ("ts", "pid", "tid"):
        value = event.get(field)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            yield f"{field} is {value!r}"
    if phase == "X" and (not isinstance(event.get("dur"), int) or event["dur"] < 0):
        yield f"dur is {event.get('dur')!r}"
    if phase == "C" and not all(
        isinstance(value, (int, float)) for value in event.get("args", {"": ""}).values()
    ):
        yield "a counter of something else than numbers"
    if phase == "i" and event.get("s") not in ("g", "p", "t"):
        yield f"scope {event.get('s')!r}"
    if phase in "be" and not (event.get("id2", {}).get("local") and event.get("cat")):
        yield "no id or category"
    if phase == "M" and not isinstance(event.get("args", {}).get("name"), str):
        yield "metadata without a name"


def _order(events: list[Any]) -> Iterator[str]:
    times = [event["ts"] for event in events if event["ph"] != "M"]
    if times != sorted(times):
        yield "not in the order of time"
    phases = [event["ph"] == "M" for event in events]
    if phases != sorted(phases, reverse=True):
        yield "names of tracks behind their events"


def _pairs(events: list[Any]) -> Iterator[str]:
    open_ones: dict[tuple[Any, ...], int] = {}
    for event in events:
        key = (event.get("cat"), str(event.get("id2")), event["pid"])
        if event["ph"] == "b":
            if key in open_ones:
                yield f"{key} begins twice"
            open_ones[key] = event["ts"]
        elif event["ph"] == "e":
            if key not in open_ones:
                yield f"{key} ends without a beginning"
            open_ones.pop(key, None)
    if open_ones:
        yield f"without an end: {sorted(map(str, open_ones))[:3]}"


def _slices(events: list[Any]) -> Iterator[str]:
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for track, slices in tracks.items():
        for (_, end), (start, _) in pairwise(slices):
            if start < end:
                yield f"slices of track {track} overlap: one ends at {end}, the next begins at {start}"
