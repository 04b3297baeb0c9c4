"""The memory verdict, for every end for want of memory: of a model, a function, a script, a cell, a kernel.

    needed  the plan's peak with its worst operator, or what was asked for in one piece
    had     the limit, and whose it is: the user's, the container's, the machine's
    held    what it had taken by then, and where it was
    grew    at once, steadily or in steps, and what grew
    fits    what would go into what there was

Each line is left out where nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from outlive.finding import Evidence, Remedy, Tag
from outlive.meter import Rise, how_it_rose
from outlive.process.flight import Flight
from outlive.rules.flight_end import (
    amount,
    cause,
    doer,
    gpu_memory,
    is_function,
    is_kernel,
    limited_command,
    may_lack_memory,
    native_stack,
    status,
)
from outlive.rules.tensorflow_log import RequestedMemory, last_line, requested_memory
from outlive.units import format_bytes, format_shape, plural

SET_LIMIT = "the limit that you set (memory=)"
_TENSORS, _MOST_NAME, _MOST_WORDS = 3, 40, 120
# Of what seems to be left, so much can be filled.
_FILLED_SHARE = 0.9
# The limits that a machine knows, by the name that `MachineMemory` has for them: who has it, who says so.
_ROOMS = {
    "cgroup_limit_bytes": ("this container", "cgroup"),
    "rlimit_as_bytes": ("a process here", "ulimit -v"),
    "rlimit_data_bytes": ("a process here", "ulimit -d"),
    "total_bytes": ("this machine", "machine"),
}
# Who asks for memory in vain had at least this share of the limit, with what was asked for.
_NEAR_SHARE = 0.5
# What others hold is worth a word from this share on; a variable is what grew if it has this share.
_OTHERS_SHARE, _GROWN_SHARE = 0.1, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Had:
    """The memory there was: how much, what to call it in a headline, whose it is, and who says so."""

    bytes: int
    name: str
    whose: str
    source: str

    def __str__(self) -> str:
        """As `the limit is 1.40 GiB`."""
        verb = "is" if self.source == "limits" else "has"
        return f"{self.name} {verb} {format_bytes(self.bytes, self.bytes)}"


def need_and_room(flight: Flight) -> str:
    """How much it needs, and how much there is, as far as they are known."""
    there, who = had(flight), f"the {doer(flight)}"
    need = _need(flight, there)
    if there is None:
        used = "" if flight.peak_bytes is None else f"used at least {format_bytes(flight.peak_bytes)}"
        return f"{who} {need[0]}" if need is not None else used
    if need is not None and need[1] > there.bytes:
        return f"{'' if who == 'the model' else f'{who} '}{need[0]}, {there}"
    return str(there)


def evidence(flight: Flight) -> tuple[Evidence, ...]:
    """Needed, had, held, grew, and how it ended."""
    lines = (*_needed(flight), *_had(flight), *_held(flight), *gpu_memory(flight), *_grew(flight))
    return (*lines, *_end(flight))


def remedies(flight: Flight) -> tuple[Remedy, ...]:
    """More memory, if there is more; and what would fit."""
    fitting = [*_ways(flight), *_parts(flight), *_fewer(flight)] or [_smaller(flight)]
    return (*_raise(flight), *fitting)


def needed_words(planned: dict[str, Any]) -> str:
    """What the plan says, with the tensors alive where it is worst, or its parts where others are larger."""
    needed, op = planned["needed_bytes"], planned.get("op")
    words, parts = f"{_bound(planned)}{format_bytes(needed)}", planned.get("parts", ())[:2]
    if op is None:
        return words
    place = f"operator {op['index']} ({op['type']})"
    if 2 * op["live_bytes"] < needed and parts:
        return f"{words}, of which {_listed(parts)}; the most tensors at {place}"
    part = "" if op["live_bytes"] >= needed else f"of which {format_bytes(op['live_bytes'])} "
    return f"{words}, {part}at {place}: {_listed(planned['alive'])}"


def _listed(items: Sequence[dict[str, Any]]) -> str:
    """Some names with their sizes; of a long name the end, which tells it from others."""
    named = [(item["name"] or "a tensor", item["bytes"]) for item in items[:_TENSORS]]
    return ", ".join(
        f"{name if len(name) <= _MOST_NAME else '...' + name[-_MOST_NAME:]} {format_bytes(size)}"
        for name, size in named
    )


def had(flight: Flight) -> Had | None:
    """The limit that ended it: the one that was set, or the tightest of its container and machine."""
    limit = amount(flight.limits.get("memory_bytes"))
    at_limit = cause(flight) == "memory-limit" or may_lack_memory(flight)
    if limit is not None and at_limit and not _is_far(flight, limit):
        whose = f"{SET_LIMIT}{_doubt(flight, limit)}"
        return Had(bytes=limit, name="the limit", whose=whose, source="limits")
    rooms = {name: size for name in _ROOMS if (size := amount(flight.machine.get(name))) is not None}
    name = min(rooms, key=rooms.__getitem__, default="")
    if not rooms or _is_far(flight, rooms[name]):
        return None
    own = "" if limit is None else f"; its own limit (memory=) is {format_bytes(limit, limit)}"
    whose = f"all that {_ROOMS[name][0]} has{_others(flight, name, rooms[name])}{own}"
    return Had(bytes=rooms[name], name=_ROOMS[name][0], whose=whose, source=_ROOMS[name][1])


def _is_far(flight: Flight, limit: int) -> bool:
    """True of an exception that came with far less in use and asked for: something else refused."""
    last = _last_asked(flight)
    known = last is not None or amount(flight.limits.get("memory_bytes")) is None
    return known and _is_below(flight, limit, last or 0)


def _last_asked(flight: Flight) -> int | None:
    """What was asked for in vain: as the library says it, or one more item of what grew."""
    asked, kept = requested_memory(flight), grown_variable(flight)
    if asked is not None:
        return asked.bytes
    return kept["bytes"] // kept["items"] if kept is not None and kept["items"] > 1 else None


def _is_below(flight: Flight, limit: int, asked_bytes: int = 0) -> bool:
    """True of an exception in a function that held and asked for less than half of the limit."""
    raised = not flight.died and not flight.ended_by and is_function(flight)
    return raised and (flight.peak_bytes or 0) + asked_bytes < _NEAR_SHARE * limit


def _doubt(flight: Flight, limit: int) -> str:
    """What is not known of Python's own MemoryError, which does not say how much was asked for."""
    doubtful = _last_asked(flight) is None and _is_below(flight, limit)
    return ", mostly unused: one large allocation failed, or something else refused it" if doubtful else ""


def _others(flight: Flight, name: str, room: int) -> str:
    """What others hold of it: of a process that is gone, nothing is counted any more."""
    free, used = amount(flight.machine.get("available_bytes")), None
    if name == "cgroup_limit_bytes":
        used = amount(flight.machine.get("cgroup_used_bytes"))
    elif name == "total_bytes" and free is not None:
        used = room - free
    others = (used or 0) - (0 if flight.died else flight.peak_bytes or 0)
    return f", {format_bytes(others)} used by other programs" if others > _OTHERS_SHARE * room else ""


def _need(flight: Flight, there: Had | None) -> tuple[str, int] | None:
    """What it needs, as the end of a sentence, and in bytes; in the units of the memory there was."""
    like = None if there is None else there.bytes
    planned, asked = amount(flight.planned.get("needed_bytes")), requested_memory(flight)
    if planned is not None:
        return f"needs {_bound(flight.planned)}{format_bytes(planned, like)}", planned
    return None if asked is None else (f"requested {format_bytes(asked.bytes, like)} at once", asked.bytes)


def _bound(planned: dict[str, Any]) -> str:
    return {"exact": "", "lower": "at least "}.get(str(planned.get("bound")), "about ")


def _needed(flight: Flight) -> Iterator[Evidence]:
    planned, asked = flight.planned, requested_memory(flight)
    if amount(planned.get("needed_bytes")) is not None:
        yield Evidence(f"needed: {needed_words(planned)}", f"plan, {planned['accelerator']}")
    elif asked is not None:
        source, there = flight.error_type or "standard error", had(flight)
        word = "last request" if there is not None and asked.bytes <= there.bytes else "needed"
        yield Evidence(f"{word}: {format_bytes(asked.bytes)} more, {_piece(asked)}", source)


def _piece(asked: RequestedMemory) -> str:
    return f"for {format_shape(asked.shape)} {asked.dtype}" if asked.shape else "in one piece"


def _had(flight: Flight) -> Iterator[Evidence]:
    there, limit = had(flight), amount(flight.limits.get("memory_bytes"))
    if there is not None:
        yield Evidence(f"available: {format_bytes(there.bytes, there.bytes)}, {there.whose}", there.source)
    elif limit is not None:
        fact = f"available: {format_bytes(limit, limit)}, {SET_LIMIT}; not reached: something else refused"
        yield Evidence(fact, "limits")


def _held(flight: Flight) -> Iterator[Evidence]:
    if flight.peak_bytes is None:
        return
    least, op = "at least " if flight.died else "", flight.op
    at = "" if op is None else f", at {'' if op.index is None else f'operator {op.index}, '}{op.type}"
    fact = f"used: {least}{format_bytes(flight.peak_bytes)} more than before the {_stretch(flight)}{at}"
    if is_kernel(flight):
        fact += f", and {format_bytes(flight.baseline_bytes)} before"
    yield Evidence(fact, "memory timeline")


def _stretch(flight: Flight) -> str:
    return "call" if doer(flight) == "function" else doer(flight)


def _grew(flight: Flight) -> Iterator[Evidence]:
    rise, kept, asked = how_it_rose(flight.timeline), grown_variable(flight), requested_memory(flight)
    line = last_line(flight)
    at = f", at {line}" if line else ""
    if kept is not None and kept["items"] > 1:
        each = format_bytes(kept["bytes"] // kept["items"])
        how = "steadily, " if rise is not None and rise.how == "steadily" else ""
        count = f"which {'had at least' if flight.died else 'has'} {kept['items']:,}"
        fact = f"grew: {how}by {each} for each item of `{kept['name']}`, {count}{at}"
        yield Evidence(fact, "Python stack")
    elif asked is not None and asked.bytes > (flight.peak_bytes or 0):
        yield Evidence(f"grew: at once, by the requested size{at}", flight.error_type or "standard error")
    elif rise is not None and rise.bytes >= _GROWN_SHARE * (flight.peak_bytes or 0):
        yield Evidence(f"grew: {_risen(rise)}{at}", "memory timeline")


def _risen(rise: Rise) -> str:
    if rise.how == "at once":
        return f"at once, by {format_bytes(rise.largest_bytes)}"
    if rise.how == "fast":
        return f"by {format_bytes(rise.bytes)} within {rise.seconds:,.2g} s"
    span = f"over {rise.seconds:,.1f} s"
    if rise.how == "steadily":
        return f"steadily, by {format_bytes(int(rise.bytes / max(rise.seconds, 0.001)))} a second {span}"
    return f"in steps {span}, the largest {format_bytes(rise.largest_bytes)}"


def grown_variable(flight: Flight) -> dict[str, Any] | None:
    """The variable that has most of what is held; None if none has."""
    first = flight.variables[0] if flight.variables else None
    enough = _GROWN_SHARE * (flight.peak_bytes or 0)
    return first if first is not None and first["bytes"] >= enough else None


def _end(flight: Flight) -> Iterator[Evidence]:
    """How it ended, in one line; nothing where it said no more than what it asked for."""
    if not flight.died:
        words = " ".join(flight.error_text.split())[:_MOST_WORDS]
        if requested_memory(flight) is None:
            fact = words or "no error message"
            yield Evidence(fact, flight.error_type or "end")
        return
    end, kills = status(flight), flight.oom_kills
    if cause(flight) == "killed-for-memory" and kills is not None:
        fact = f"{end.fact}; out-of-memory kill counter rose from {kills[0]} to {kills[1]}"
        yield Evidence(fact, "exit status, kernel counters")
        return
    stack = "".join(f" {item.fact}" for item in native_stack(flight) if item.source == "native stack")
    ours = "ended at its limit" if flight.ended_by == "memory" else end.fact
    yield Evidence(f"{ours}{stack}", end.source)


def _raise(flight: Flight) -> Iterator[Remedy]:
    """A limit that would do, where the user set one and the machine has more."""
    limit, there = amount(flight.limits.get("memory_bytes")), had(flight)
    if limit is None or there is None or there.source != "limits":
        return
    need, asked = amount(flight.planned.get("needed_bytes")), requested_memory(flight)
    once = asked is not None and asked.bytes > limit  # the need of what grows on and on is not known
    more = need or (asked.bytes + (flight.peak_bytes or 0) if asked is not None and once else 0)
    enough = more * 11 // 10 if more > limit else 2 * limit
    rooms = (flight.machine.get(name) for name in ("cgroup_limit_bytes", "total_bytes"))
    if enough > min((room for room in map(amount, rooms) if room is not None), default=enough):
        return
    size = f"{-(-enough // 1_000_000)}MB"
    command = limited_command(flight, size)
    yield Remedy(f"raise the limit to {size}", Tag.SAME_RESULTS, command=command)


def _ways(flight: Flight) -> Iterator[Remedy]:
    """Other settings and inputs that were planned and fit: the first, and the last, which is the smallest."""
    ways = flight.planned.get("ways", ())
    for way in [*ways[:1], *ways[1:][-1:]]:
        yield Remedy(
            way["what"],
            Tag.CHANGES_RESULTS if way["changes_results"] else Tag.SAME_RESULTS,
            effect=f"needs {format_bytes(way['needed_bytes'])}",
            command=f"outlive plan FILE {way['options']}",
        )


def _smaller(flight: Flight) -> Remedy:
    """What to try where nothing is known to fit; of what was planned, nothing smaller was found that does."""
    room = amount(flight.planned.get("room_bytes"))
    if room is None or flight.planned["needed_bytes"] <= room:
        return Remedy("use a smaller input or batch", Tag.CHANGES_RESULTS)
    action = "find a smaller variant of the model: no other settings or inputs fit"
    command = f"outlive fit FILE --ram {max(1, room // 1_000_000)}MB"
    return Remedy(action, Tag.CHANGES_MODEL, command=command)


def _left(flight: Flight) -> int | None:
    there = had(flight)
    return None if there is None else int(_FILLED_SHARE * max(0, there.bytes - (flight.peak_bytes or 0)))


def _parts(flight: Flight) -> Iterator[Remedy]:
    """How much of an array that was asked for would fit."""
    asked, left = requested_memory(flight), _left(flight)
    if asked is None or left is None or len(asked.shape) < 2 or asked.bytes <= left:
        return
    rows = left * asked.shape[0] // asked.bytes
    if rows > 0:
        part = format_shape((rows, *asked.shape[1:]))
        action = f"process it in parts: {part} fits, {rows:,} of {plural(asked.shape[0], 'row')}"
        yield Remedy(action, Tag.SAME_RESULTS)


def _fewer(flight: Flight) -> Iterator[Remedy]:
    """How many items of what grew fit."""
    kept, there = grown_variable(flight), had(flight)
    if kept is None or kept["items"] <= 1:
        return
    items = kept["items"]
    if flight.died and there is not None:
        items = max(items, there.bytes * items // kept["bytes"])
    action = f"keep fewer items in `{kept['name']}`: at most {items:,} fit"
    yield Remedy(action, Tag.CHANGES_RESULTS)
