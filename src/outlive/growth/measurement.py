"""Repeats a cycle in a worker until it is clear whether it leaks; a second worker says what it is that grew.

    target ──> rounds in a worker ──> a row each ──> weighed now and then: clear? ──> CycleGrowth
                                                          └─ it leaks ──> census in a second worker

A verdict is not given as soon as it can be: a cache of a thousand entries looks like a leak for a thousand
rounds. Where rounds are quick there are more of them, where they are slow the time given decides.
"""

import contextlib
import importlib.util
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from outlive.arena.devices import Device, find_device
from outlive.errors import RunError
from outlive.growth.growth import (
    LEAKS,
    NO_LEAK,
    UNCLEAR,
    Census,
    CycleGrowth,
    Growth,
    Keeper,
    PerRound,
    Round,
)
from outlive.growth.stage_verdict import Room, forecast_limits, is_doubtful, weigh
from outlive.growth.trend import FEWEST, FEWEST_OF_ALL
from outlive.guarding.guarded import Guarded
from outlive.guarding.worker_errors import WorkerTraceback
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.interpreter.judge import Judge
from outlive.meter import read_machine, read_rlimit
from outlive.process.child.leak import census, rounds, sites
from outlive.process.child.leak.targets import CannotRepeat
from outlive.process.flight import Flight
from outlive.process.limits import default_memory_bytes
from outlive.units import parse_bytes

# Quick rounds: so many before no leak is said, and so many before a leak is.
_FLAT_CALLS, _LEAK_CALLS, _MOST_CALLS = 150, 1200, 6000
# Slow rounds: fewer do once so many seconds have passed.
_FLAT_SLOW, _LEAK_SLOW = (15.0, 24), (30.0, 40)
_FIRST_LOOK, _LEAST_ROWS, _FEWEST_ROWS = 20, 12, 6
SECONDS = 120.0
# A leak is let grow to this, or to a share of what is free.
_MOST_GROWTH, _GROWTH_SHARE = 1 << 30, 0.25
# For the census: rounds that warm up, rounds that are counted, and how long both may take.
_CENSUS_WARM, _CENSUS_ROUNDS, _CENSUS_SECONDS = 1000, 20, 30.0

# What workers say (process/child/leak: gauge.py, census.py, sites.py).
_COUNTS = ("private_bytes", "shared_bytes", "heap_bytes", "mapped_bytes", "blocks", "descriptors", "threads")
_ROW: dict[str, Any] = {
    **dict.fromkeys(("at", "call_seconds"), float),
    **dict.fromkeys(("calls", "objects"), int),
    **dict.fromkeys(_COUNTS, int | None),
}
_NAMED = [{"name": str, "per_round": float}]
_TYPE = {"kind": str, "plain": bool, "per_round": float, "bytes_each": int, "kept_by": [str]}
_CENSUS = {
    "rounds": int,
    "keepers": [{**_TYPE, "holds": str}],
    "types": [_TYPE],
    **dict.fromkeys(("descriptors", "threads", "mappings"), _NAMED),
}

_ALL_THE_ROOM = Room()

Tell = Callable[[CycleGrowth], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakSettings:
    """How a cycle is repeated: how often (None: until it is clear), how long, and within which memory."""

    judge: Judge
    repeat: int | None = None
    seconds: float = SECONDS
    memory_bytes: int | None = None
    room: Room = _ALL_THE_ROOM

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        if self.repeat is not None and self.repeat < 1:
            raise ValueError(f"repeat must be at least 1, not {self.repeat}")
        if not self.seconds > 0:
            raise ValueError(f"seconds must be more than 0, not {self.seconds}")


def guarded(function: Callable[..., Any], order: LeakSettings, form: Any) -> Callable[..., Any]:
    """The function in a worker in which nothing was done before; a round that hangs ends with its time."""
    return Guarded(
        function,
        judge=order.judge,
        memory=order.memory_bytes,
        seconds=order.seconds,
        fresh=True,
        quiet=True,
        plain=form,
    )


def find_room(memory_bytes: int | None = None, limited_by: str = "") -> Room:
    """The memory that is available: the size given, or what the machine or container has."""
    machine = read_machine()
    if memory_bytes is None:
        memory_bytes, limited_by = machine.usable_bytes(), machine.limited_by()
    return Room(
        memory_bytes=memory_bytes,
        limited_by=limited_by,
        descriptors=read_rlimit("NOFILE"),
        threads=read_rlimit("NPROC"),
    )


def measure_stage(target: Any, cycle: str, order: LeakSettings, tell: Tell = lambda _: None) -> CycleGrowth:
    """Repeat a target and say what grows; what it raises in the very first round is raised here too."""
    rounds: list[Round] = []
    problem, flight = "", None
    try:
        for stage in _weighed(target, cycle, order, rounds):
            tell(stage)
    except RunError as error:
        problem, flight = error.finding.headline, error.flight
    except CannotRepeat as error:
        if cycle == "call":
            raise ValueError(str(error)) from None
        problem = str(error)
    except Exception as error:
        if not rounds or not rounds[-1].calls:
            raise
        said = " ".join(str(error).split())[:200]
        problem = f"round {rounds[-1].calls + 1} raised {type(error).__name__}{said and ': '}{said}"
    stage = _last_weighed(rounds, cycle, order, bool(problem))
    stage = replace(stage, problem=problem, flight=flight, ends=forecast_limits(stage, order.room))
    return replace(stage, census=_take_census(target, stage, order)) if stage.verdict == LEAKS else stage


def _last_weighed(rounds: list[Round], cycle: str, order: LeakSettings, ended_early: bool) -> CycleGrowth:
    """The verdict on all rounds; where no more could be had, few have to do."""
    if not rounds or not rounds[-1].calls:
        return CycleGrowth(cycle=cycle, verdict=UNCLEAR)
    grown = (rounds[-1].held_bytes or 0) - (rounds[0].held_bytes or 0)
    cramped = ended_early or grown >= _most_growth(order)
    return weigh(rounds, cycle, FEWEST_OF_ALL if cramped else FEWEST)


def _weighed(target: Any, cycle: str, order: LeakSettings, rounds: list[Round]) -> Iterator[CycleGrowth]:
    """Repeat until it is clear; what is known so far each time it is weighed."""
    next_look, start = _FIRST_LOOK, 0.0
    with contextlib.closing(_stream(target, order)) as rows:
        # No more rows than were asked for, and each with more calls than the last.
        for row in itertools.islice(rows, max(_MOST_CALLS, order.repeat or 0) + 1):
            if rounds and row["calls"] <= rounds[-1].calls:
                break
            start = start or float(row["at"])
            rounds.append(Round.from_row(row, start))
            if rounds[-1].calls < next_look:
                continue
            next_look = 150 if 75 < next_look < 150 else next_look * 2
            stage = weigh(rounds, cycle)
            yield stage
            if order.repeat is None and _is_clear(stage):
                return


def _is_clear(stage: CycleGrowth) -> bool:
    """True if more rounds would not change the verdict."""
    if stage.verdict == UNCLEAR or is_doubtful(stage) or stage.reason:
        return False
    quick, slow = (_FLAT_CALLS, _FLAT_SLOW) if stage.verdict == NO_LEAK else (_LEAK_CALLS, _LEAK_SLOW)
    return stage.calls >= quick or (stage.rounds[-1].seconds >= slow[0] and stage.calls >= slow[1])


def _stream(target: Any, order: LeakSettings) -> Any:
    bounds = {
        "calls": order.repeat,
        "most_calls": _MOST_CALLS,
        "most_seconds": order.seconds,
        "most_bytes": _most_growth(order),
        "least_rows": _LEAST_ROWS,
        "fewest_rows": _FEWEST_ROWS,
        "quiet": True,
    }
    return guarded(rounds.rounds, order, _ROW)(target, bounds)


def _most_growth(order: LeakSettings) -> int:
    free = order.memory_bytes or default_memory_bytes(read_machine()) or _MOST_GROWTH
    return min(_MOST_GROWTH, int(free * _GROWTH_SHARE))


def _take_census(target: Any, stage: CycleGrowth, order: LeakSettings) -> Census | None:
    """What it is that grew; None if the second worker did not live to say so."""
    each = stage.rounds[-1].call_seconds / max(1, stage.calls)
    most = int(min(_CENSUS_SECONDS / max(each, 1e-6), _most_growth(order) / max(1.0, stage.high)))
    # Where the rate was measured, and not before: what leaks may have begun late.
    warm = max(1, min(_CENSUS_WARM, stage.calls // 3, most // 2))
    count = max(3, min(_CENSUS_ROUNDS, most - warm))
    try:
        found = guarded(census.census, order, _CENSUS)(target, warm, count, {"quiet": True})
    except Exception:  # the verdict stands without names
        return None
    return replace(read_census(found), sites=_find_sites(target, warm, count, order))


def _find_sites(target: Any, warm: int, count: int, order: LeakSettings) -> tuple[PerRound, ...]:
    """The lines that asked for what was left behind, where memray is installed."""
    if importlib.util.find_spec("memray") is None:
        return ()
    try:
        found = guarded(sites.sites, order, _NAMED)(target, warm, count, {"quiet": True})
    except Exception:  # it may not bear being followed
        return ()
    return _named(found)


def read_census(found: Mapping[str, Any]) -> Census:
    """What a worker has counted."""
    return Census(
        rounds=int(found["rounds"]),
        keepers=(*map(_keeper, found["keepers"]), *map(_keeper, found["types"])),
        descriptors=_named(found["descriptors"]),
        threads=_named(found["threads"]),
        mappings=_named(found["mappings"]),
    )


def _named(rows: Any) -> tuple[PerRound, ...]:
    return tuple(PerRound(str(row["name"]), float(row["per_round"])) for row in rows)


def _keeper(row: Mapping[str, Any]) -> Keeper:
    return Keeper(
        kind=str(row.get("holds") or row["kind"]),
        container=str(row["kind"]) if "holds" in row else "",
        per_round=float(row["per_round"]),
        bytes_each=int(row["bytes_each"]),
        plain=bool(row["plain"]),
        kept_by=tuple(str(link) for link in row["kept_by"]),
    )


# What is to be repeated: a function, a function of a script, or the cycles of a model.
CYCLES = ("load", "invoke", "resize")
# The runtime's own functions, as they stand in a traceback, and what we call that stage.
_STEPS = {"invoke": "invoke", "set_tensor": "set", "allocate_tensors": "allocate"}
Target = tuple[str, Any]  # the cycle's name, and what a worker repeats


def find_targets(
    source: Any, cycle: str, *, accelerator: str = "cpu", threads: int | None = None, runtime: str = "litert"
) -> tuple[str, tuple[Target, ...]]:
    """What it is called, and what workers repeat; ValueError for what cannot be repeated."""
    if cycle not in (*CYCLES, "all"):
        raise ValueError(f"unknown cycle {cycle!r}; choose from {', '.join(CYCLES)} and all")
    if accelerator not in ACCELERATORS:
        raise ValueError(f"unknown accelerator {accelerator!r}; choose from {', '.join(ACCELERATORS)}")
    if callable(source):
        return _function_name(source), (("call", source),)
    if isinstance(source, str) and ".py::" in source:
        return source, (("call", _script(source)),)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path.endswith(".py"):
            raise ValueError(f"name the function to repeat: {path}::function")
        with open(path, "rb"):
            pass  # the system's own words for a file that cannot be read
        what, opened = path, dict[str, Any](model_path=os.path.abspath(path))
    else:
        what, opened = "the given bytes", {"model_content": bytes(source)}
    model = {**opened, "resolver": ACCELERATORS[accelerator].name, "num_threads": threads}
    cycles = CYCLES if cycle == "all" else (cycle,)
    return what, tuple((name, {"model": model, "cycle": name, "runtime": runtime}) for name in cycles)


def _function_name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def _script(source: str) -> dict[str, str]:
    path, _, name = source.rpartition("::")
    if not os.path.isfile(path):
        raise ValueError(f"file not found: {path}")
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not a function name; write {path}::function")
    return {"script": os.path.abspath(path), "function": name}


def choose_room(ram: str | int | None, device: str | Device | None) -> Room:
    """The memory that is available: the size given, a device's, or this machine's or container's."""
    if ram is not None and device is not None:
        raise ValueError("give an amount of RAM or a device, not both")
    if device is not None:
        found = find_device(device) if isinstance(device, str) else device
        return find_room(found.ram_bytes, found.title)
    if ram is None:
        return find_room()
    size = parse_bytes(ram) if isinstance(ram, str) else ram
    if size <= 0:
        raise ValueError(f"{size} bytes is not an amount of RAM")
    return find_room(size, "as asked for")


def measure_growth(
    what: str, targets: tuple[Target, ...], order: LeakSettings, tell: Callable[[str, CycleGrowth], None]
) -> Growth:
    """Repeat each target in a worker of its own; a model that gets through no round is given up."""
    stages: list[CycleGrowth] = []
    for cycle, target in targets:
        stages.append(_measure(cycle, target, order, tell))
        if stages[-1].flight is not None and not stages[-1].calls:
            break
    return Growth(what=what, stages=tuple(stages))


def _measure(
    cycle: str, target: Any, order: LeakSettings, tell: Callable[[str, CycleGrowth], None]
) -> CycleGrowth:
    try:
        return measure_stage(target, cycle, order, lambda stage: tell(cycle, stage))
    except Exception as error:
        if cycle == "call" or not isinstance(error.__cause__, WorkerTraceback):
            raise
        return _refused(cycle, error, error.__cause__.text)


def _refused(cycle: str, error: Exception, trace: str) -> CycleGrowth:
    """A model that the runtime does not take: the record that the rules on flights know."""
    text = str(error)
    step = next((name for word, name in _STEPS.items() if f"in {word}\n" in trace), "load")
    flight = Flight(died=False, stage=step, error_type=type(error).__name__, error_text=text)
    said = " ".join(text.split())[:200] or "without a message"
    return CycleGrowth(cycle=cycle, verdict=UNCLEAR, problem=f"the runtime refused it: {said}", flight=flight)
