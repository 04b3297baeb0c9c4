"""Rows, files and engine functions that tests make."""

from __future__ import annotations

import itertools
import os
import signal
import time
from pathlib import Path
from typing import Any

from outlive import demo_models
from outlive.fleet.rows import (
    DeathSummary,
    DeviceFit,
    FindingSummary,
    OutputSummary,
    Row,
    RunSummary,
    ScanOptions,
    ScanTask,
)
from outlive.verbs.scan import examine_task as examine

# Names the file that says a process was killed.
MARK = "OUTLIVE_TEST_MARK"


def row(path: str = "a.tflite", **changes: Any) -> Row:
    """A row that says something in every field."""
    usual: dict[str, Any] = {
        "path": path,
        "name": path,
        "outcome": "ran",
        "sha256": "ab" * 32,
        "file_bytes": 1000,
        "mtime_ns": 12,
        "order_key": "key",
        "errors": 1,
        "codes": {"F104": 1},
        "findings": (FindingSummary(code="F104", name="n", severity="error", headline="h", where="w"),),
        "operators": 3,
        "peak_bytes": 1_000_000,
        "total_bytes": 2_000_000,
        "exact": True,
        "devices": (DeviceFit(device="pico", word="fits", needed_bytes=5, margin_bytes=6),),
        "run": run(),
        "death": None,
        "host": "here",
        "versions": {"outlive": "0"},
    }
    return Row(**(usual | changes))


def run(milliseconds: float = 10.0, peak: int = 2_000_000, *outputs: OutputSummary) -> RunSummary:
    """What a run took."""
    shown = outputs or (output(),)
    return RunSummary(milliseconds=milliseconds, first_milliseconds=12.0, peak_bytes=peak, outputs=shown)


def output(
    sha256: str = "cd" * 32, samples: tuple[float, ...] = (0.0, 0.5, 1.0), **changes: Any
) -> OutputSummary:
    """An output between 0 and 1."""
    usual: dict[str, Any] = {"name": "p", "shape": (1, 3), "dtype": "float32", "minimum": 0.0, "maximum": 1.0}
    return OutputSummary(sha256=sha256, samples=samples, **(usual | changes))


def death(cause: str) -> DeathSummary:
    """A death of this cause."""
    return DeathSummary(cause=cause, code="D504", headline="it died", stage="invoke", signal="SIGSEGV")


def task(path: str | Path, **wishes: Any) -> ScanTask:
    """A file's turn."""
    order = ScanOptions(**wishes)
    where = os.fspath(path)
    return ScanTask(
        number=7, path=where, place=where, name=Path(where).name, sha256="", order=order, order_key=order.key
    )


def models(folder: Path, *names: str, copies: int = 1) -> Path:
    """A folder with demo models; copies differ in bytes that nobody reads."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, number in itertools.product(names, range(copies)):
        content = demo_models.path(name).read_bytes() + bytes([number]) * (8 if number else 0)
        (folder / f"{name}_{number}.tflite").write_bytes(content)
    return folder


def only_named(asked: ScanTask) -> Row:
    """The least an engine function can do: who it was asked about."""
    return row(asked.path, number=asked.number, sha256=asked.sha256, order_key=asked.order_key)


def kill_on_deadly(asked: ScanTask) -> Row:
    """Take the engine's process along, each time, for a file with `killer` in its name."""
    assert asked.owner != os.getpid(), "it is done in the process that coordinates"
    if "killer" in asked.name:
        os.kill(os.getpid(), signal.SIGKILL)
    return only_named(asked)


def kill_once(asked: ScanTask) -> Row:
    """Take the engine's process along the first time a file with `once` in its name is looked at."""
    mark = Path(f"{asked.path}.mark")
    if "once" in asked.name and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return only_named(asked)


def examine_and_kill_once(asked: ScanTask) -> Row:
    """Look at files as usual; the first process that is asked about a wasteful one is killed."""
    assert asked.owner != os.getpid(), "it is done in the process that coordinates"
    mark = Path(os.environ[MARK])
    if "wasteful" in asked.name and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return examine(asked)


def refuse(asked: ScanTask) -> Row:
    """Raise, which no engine function should."""
    raise KeyError("planted")


def mark_and_hang(asked: ScanTask) -> Row:
    """Make the file that is asked about, and never answer."""
    Path(asked.path).touch()
    time.sleep(600)
    return only_named(asked)


def stand_still(asked: ScanTask) -> Row:
    """Stop this process, which then goes on only if it is told to."""
    os.kill(os.getpid(), signal.SIGSTOP)
    return only_named(asked)


def leave_a_child_and_die(asked: ScanTask) -> Row:
    """Die with a child that holds all that this process has open; its number is in the file asked about."""
    child = os.fork()
    if not child:
        time.sleep(600)
        os._exit(0)
    Path(asked.path).write_text(str(child), "utf-8")
    os.kill(os.getpid(), signal.SIGKILL)
    return only_named(asked)
