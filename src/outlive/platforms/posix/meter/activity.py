"""Is a process working or waiting, and on whom? Read from outside, just before it is ended.

A process that burns a processor at its deadline is slow or loops; one that does not waits for something
that does not come. Children that are copies of it, and wait too, were forked.
"""

import os
import time
from pathlib import Path
from typing import Any

_LOOKS, _BETWEEN_S = 5, 0.04
_MOST_CHILDREN = 64
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def watch_activity(pid: int, root: Path = Path("/proc")) -> dict[str, Any]:
    """What a process and its children do in a fifth of a second; empty where the system does not say.

    `cpu_share` is of one processor, `runnable_share` how often one of them could have used it: on a crowded
    machine that is another thing. A child is `forked` if it is the same program, with no exec in between.
    """
    processes = [pid, *_descendants(pid, root)]
    before = {one: _cpu_seconds(one, root) for one in processes}
    if before[pid] is None:
        return {}
    start = time.perf_counter()
    wanting = 0
    for _ in range(_LOOKS):
        time.sleep(_BETWEEN_S)
        wanting += _wants_to_run(processes, root)
    seconds = time.perf_counter() - start
    shares = {one: _share(before[one], _cpu_seconds(one, root), seconds) for one in processes}
    program = _program(pid, root)
    children = [{"cpu_share": shares[one], "forked": _program(one, root) == program} for one in processes[1:]]
    return {
        "cpu_share": shares[pid],
        "runnable_share": wanting / _LOOKS,
        "threads": _threads(pid, root),
        "children": children,
    }


def is_stopped(pid: int, root: Path = Path("/proc")) -> bool:
    """True if the process stands still until a signal tells it to go on."""
    return _stat(pid, root)[:1] == ["T"]


def stands_still(pid: int, root: Path = Path("/proc")) -> bool:
    """True if the process is stopped, by a signal or for its tracer."""
    return _stat(pid, root)[:1] in (["T"], ["t"])


def process_start(pid: int, root: Path = Path("/proc")) -> int:
    """When a process began, in ticks since the system did: numbers are used again; 0 if there is none."""
    fields = _stat(pid, root)
    return 0 if len(fields) < 20 or fields[0] in "ZX" else int(fields[19])


def _share(before: float | None, after: float | None, seconds: float) -> float:
    return 0.0 if before is None or after is None else round((after - before) / seconds, 2)


def _cpu_seconds(pid: int, root: Path) -> float | None:
    fields = _stat(pid, root)
    return None if len(fields) < 13 else (int(fields[11]) + int(fields[12])) / _TICKS


def _stat(pid: int, root: Path) -> list[str]:
    return _fields(root / str(pid) / "stat")


def _fields(path: Path) -> list[str]:
    """The fields of a `stat` after the name, which may hold anything; none once the task is gone."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _wants_to_run(processes: list[int], root: Path) -> bool:
    """True if a thread of these runs or waits for nothing but a processor."""
    paths = [path for pid in processes for path in _of_threads(pid, "stat", root)]
    return any(_fields(path)[:1] == ["R"] for path in paths)


def _threads(pid: int, root: Path) -> int:
    fields = _stat(pid, root)
    return int(fields[17]) if len(fields) > 17 else 0


def _program(pid: int, root: Path) -> bytes:
    try:
        return (root / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""


def _descendants(pid: int, root: Path) -> list[int]:
    found: list[int] = []
    waiting = [pid]
    while waiting and len(found) < _MOST_CHILDREN:
        waiting += (children := _children(waiting.pop(), root))
        found += children
    return found[:_MOST_CHILDREN]


def _children(pid: int, root: Path) -> list[int]:
    """Those that any thread of it has started: `/proc/PID/task/TID/children`."""
    try:
        texts = [path.read_text() for path in _of_threads(pid, "children", root)]
    except OSError:
        return []
    return [int(word) for text in texts for word in text.split()]


def _of_threads(pid: int, name: str, root: Path) -> list[Path]:
    try:
        return list((root / str(pid) / "task").glob(f"*/{name}"))
    except OSError:
        return []
