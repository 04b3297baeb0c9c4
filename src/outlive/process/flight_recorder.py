"""Writes the flight of a worker that has ended: what its maker, its block and its files still know."""

import functools
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlive.meter import (
    MemoryCgroup,
    Point,
    TaskWatch,
    find_memory_cgroup,
    limited_folders,
    read_machine,
    read_oom_counters,
)
from outlive.process.flight import Division, Flight, OpSeen
from outlive.process.limits import Limits
from outlive.process.worker_factory import StartedWorker, WorkerEnd, signal_name

# How a process ends whose thread was refused, among others (see D516): looking at limits takes a while.
_MAY_LACK_THREADS = ("SIGABRT", "SIGSEGV")

# A program that allocates anew before each call makes two points a call: the first and the last are kept.
_FIRST_POINTS, _MOST_POINTS = 32, 512


@dataclass(frozen=True, slots=True, kw_only=True)
class LastWords:
    """What a worker itself left behind: the stage it was in, and what it printed last."""

    stage: str
    stderr_tail: str
    fault_trace: str


class MemoryHistory:
    """The memory of a worker, stage by stage, as it reports it itself; cheap enough for every run.

    Points are above the baseline that the worker had before the model came.
    """

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._start = time.monotonic()
        self._points: list[Point] = []
        self.baseline_bytes = 0
        self._peak_bytes: int | None = None

    def begin(self, memory: dict[str, int]) -> None:
        """Take the baseline: interpreter, numpy and runtime, before the model."""
        self._start = time.monotonic()
        self.baseline_bytes = memory.get("private_bytes", 0)
        self.mark("start", memory)

    def points(self) -> tuple[Point, ...]:
        """All that was noted."""
        return tuple(self._points)

    def seconds(self) -> float:
        """How long ago it began."""
        return time.monotonic() - self._start

    def peak(self, last: dict[str, int]) -> int | None:
        """The most private memory that was seen above the baseline; None if nothing was.

        `last` is what was seen of its memory as it died. Its resident bytes are no measure: the code of the
        runtime is in them, page by page as it runs.
        """
        seen = [] if self._peak_bytes is None else [self._peak_bytes]
        if self._points and last.get("private_bytes"):
            seen.append(max(0, last["private_bytes"] - self.baseline_bytes))
        return max(seen, default=None)

    def mark(self, name: str, memory: dict[str, int]) -> None:
        """Note the memory after a stage."""
        if not memory:
            return
        above = max(0, memory["private_bytes"] - self.baseline_bytes)
        self._peak_bytes = max(above, self._peak_bytes or 0)
        if len(self._points) >= _MOST_POINTS:
            del self._points[_FIRST_POINTS]
        self._points.append(
            Point(
                seconds=self.seconds(),
                bytes=above,
                rss_bytes=memory["rss_bytes"],
                mark=name,
                gpu_bytes=memory.get("gpu_bytes"),
            )
        )


class FlightRecorder:
    """Knows how things stood before, so that it can say what has changed."""

    def __init__(self, limits: Limits, threads: int | None = None) -> None:
        """Read the counters before the worker starts; `threads` is how many it was given, if anybody said."""
        self._limits, self._asked_threads = limits, threads
        self._oom_before = _oom_kills()
        self._tasks = TaskWatch(_limited_folders(os.getpid()))

    def flight(
        self,
        *,
        ended_by: str,
        ending: WorkerEnd,
        started: StartedWorker,
        words: LastWords,
        history: MemoryHistory,
        applied: dict[str, Any],
        facts: dict[str, Any],
        activity: dict[str, Any] | None = None,
    ) -> Flight:
        """The record."""
        name = None if ending.signal is None else signal_name(ending.signal)
        evidence = ending.evidence if ended_by == "deadline" else _of_this_end(ending.evidence, name)
        seen = _as_fields(evidence)
        threads = self._threads(evidence) if name in _MAY_LACK_THREADS else {}
        return Flight(
            died=True,
            stage=words.stage,
            signal=name,
            exit_code=ending.exit_code,
            ended_by=ended_by or ending.ended_by,
            **seen,
            activity=activity or {},
            peak_bytes=history.peak(seen["last_memory"]),
            baseline_bytes=history.baseline_bytes,
            timeline=history.points(),
            stderr_tail=words.stderr_tail,
            fault_trace=words.fault_trace,
            limits={**self._limits.to_json(), **applied, **threads},
            oom_kills=ending.oom_kills or self._oom_kills_since(),
            machine=read_machine().known(),
            runtime=facts,
            untraced=started.untraced or ending.unseen,
            pid=started.pid,
        )

    def _threads(self, evidence: dict[str, Any]) -> dict[str, Any]:
        """How many threads it had of those it was given, and whose limit refused it more, if that is seen."""
        running = evidence.get("threads") or 0
        limit = self._tasks.refused_by(running)
        known = {"asked": self._asked_threads, "running": running or None}
        whose = {} if limit is None else {"by": limit.name, "limit": limit.most}
        return {"threads": {**known, **whose}}

    def _oom_kills_since(self) -> tuple[int, int] | None:
        """What the counter said when the worker started and says now, where no one looked in between."""
        after = _oom_kills()
        return None if self._oom_before is None or after is None else (self._oom_before, after)


def seen_of_end(evidence: dict[str, Any], signal: str | None) -> dict[str, Any]:
    """What a tracer saw of the end by this signal, as fields of a flight."""
    return _as_fields(_of_this_end(evidence, signal))


def _as_fields(evidence: dict[str, Any]) -> dict[str, Any]:
    """Evidence as fields of a flight; what is damaged is left out: it may come from a file."""
    frames = [frame for frame in _listed(evidence, "frames") if isinstance(frame, dict)]
    address, memory = evidence.get("fault_address"), evidence.get("memory")
    sizes = memory.items() if isinstance(memory, dict) else ()
    return {
        "op": _op(evidence),
        "op_candidates": tuple(map(str, _listed(evidence, "op_candidates"))),
        "frames": tuple(str(frame.get("symbol") or frame.get("library")) for frame in frames),
        "model_files": tuple(map(str, _listed(evidence, "model_files"))),
        "fault_address": address if isinstance(address, int) else None,
        "division": _division(evidence.get("division")),
        "last_memory": {str(name): size for name, size in sizes if isinstance(size, int)},
    }


def _listed(evidence: dict[str, Any], name: str) -> list[Any]:
    found = evidence.get(name)
    return list(found) if isinstance(found, (list, tuple)) else []


def _of_this_end(evidence: dict[str, Any], name: str | None) -> dict[str, Any]:
    """What was seen of the signal that ended it; a signal it survived has nothing to do with its end."""
    if evidence.get("signal") in (None, name):
        return evidence
    return {"memory": evidence.get("memory")}


@functools.cache
def _limited_folders(pid: int) -> tuple[Path, ...]:
    return limited_folders()


@functools.cache
def _our_cgroup(pid: int) -> MemoryCgroup | None:
    """Where our workers are counted: a process seldom moves, and looking for it takes longer than reading."""
    return find_memory_cgroup(pid)


def _oom_kills() -> int | None:
    """How often the system has killed for memory so far, as near to us as it is counted."""
    place = _our_cgroup(os.getpid())
    kills = None if place is None else place.oom_events()[1]
    return read_oom_counters(cgroup=place).machine_oom_kill if kills is None else kills


def _division(seen: Any) -> Division | None:
    """Dividend and divisor, if the nursery could read them."""
    if not isinstance(seen, dict):
        return None
    dividend, divisor = seen.get("dividend"), seen.get("divisor")
    return Division(dividend, divisor) if isinstance(dividend, int) and isinstance(divisor, int) else None


def _op(evidence: dict[str, Any]) -> OpSeen | None:
    """The operator that was running; its index only if it is one of the main subgraph."""
    kind, index = evidence.get("op_type"), evidence.get("op_index")
    if not isinstance(kind, str):
        return None
    if kind == "CUSTOM" and evidence.get("op_custom_name"):
        kind = str(evidence["op_custom_name"])
    known = isinstance(index, int) and not evidence.get("op_nested")
    return OpSeen(type=kind, index=index if known else None)
