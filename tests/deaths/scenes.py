"""What tests of deaths share: models to run, programs to run them in, and what must not be left behind."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import outlive
from outlive import demo_models

REPOSITORY = Path(__file__).parents[2]
HEALTHY = str(demo_models.path("healthy"))
DEADLY = str(demo_models.path("deadly"))
TOO_BIG = str(demo_models.path("too_big"))

PATH = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "src")])

# What every program of a scene begins with: `result(interpreter)` runs the healthy model and checks it.
PREAMBLE = """
import json, os, signal, sys, threading, time
import numpy as np
import outlive
from tests.deaths import models, scenes
from tests.deaths.scenes import DEADLY, HEALTHY, TOO_BIG, open_healthy, result, say
"""


# Most programs: the model runs, a deadly one is an error with a record, and the model runs again.
ROUND = """
def go_round(seconds=None):
    first = result(open_healthy(seconds=seconds))
    try:
        interpreter = outlive.Interpreter(DEADLY, memory="1GB")
        interpreter.allocate_tensors()
        scenes.feed(interpreter)
        interpreter.invoke()
    except outlive.ModelDied as error:
        flight = error.flight
        say(code=error.finding.code, signal=flight.signal, stage=flight.stage, untraced=flight.untraced,
            traced=bool(flight.frames), limits=flight.limits, trace=flight.fault_trace)
    assert np.array_equal(result(open_healthy()), first)
    say(well=True)
"""


def open_healthy(**arguments: Any) -> Any:
    """An interpreter for the healthy model, allocated."""
    interpreter = outlive.Interpreter(HEALTHY, **arguments)
    interpreter.allocate_tensors()
    return interpreter


def set_deadline(interpreter: Any, seconds: float) -> None:
    """Limit each call from now on: on a busy machine a model may take longer to open than a test waits."""
    worker = interpreter._session.worker
    worker._limits = outlive.Limits(memory=worker._limits.memory_bytes, seconds=seconds)


def feed(interpreter: Any, value: float = 0.5) -> None:
    """Fill all inputs with one value."""
    for row in interpreter.get_input_details():
        interpreter.set_tensor(row["index"], np.full(row["shape"], value, row["dtype"]))


def result(interpreter: Any, value: float = 0.5) -> Any:
    """Run the model on one value; its first output."""
    feed(interpreter, value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def run_often(interpreter: Any, times: int) -> None:
    """Run the model several times: what happened to its worker may be noticed a little later."""
    for _ in range(times):
        result(interpreter)


def run_whole(interpreter: Any, times: int = 1) -> None:
    """Allocate, feed and run."""
    interpreter.allocate_tensors()
    feed(interpreter)
    for _ in range(times):
        interpreter.invoke()


def say(**facts: Any) -> None:
    """Tell the test something: one line of JSON."""
    print(json.dumps(facts), flush=True)


def start(program: str, before: Sequence[str] = (), **options: Any) -> subprocess.Popen[str]:
    """A program in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": PATH, "PYTHONWARNINGS": "error", **options.pop("env", {})}
    return subprocess.Popen(
        [*before, sys.executable, "-B", "-c", PREAMBLE + textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=options.pop("cwd", REPOSITORY),
        env=environment,
        **options,
    )


def play(program: str, before: Sequence[str] = (), timeout_s: float = 300, **options: Any) -> dict[str, Any]:
    """Run a program to its end; all that it said. It must end well, and say nothing on stderr."""
    with start(program, before, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert (process.returncode, err) == (0, ""), f"{process.returncode}\n{out}\n{err}"
    facts: dict[str, Any] = {}
    for line in out.splitlines():
        facts |= json.loads(line)
    return facts


def without(folder: Path, lines: str) -> dict[str, str]:
    """The environment of a program whose Python, and that of its children, begins with these lines."""
    (folder / "sitecustomize.py").write_text(lines + "\n")
    return {"PYTHONPATH": os.pathsep.join([str(folder), PATH])}


# Processes that were there before a test, of engines and browsers that other tests use.
strangers: set[int] = set()


def children(pid: int | None = None) -> set[int]:
    """The processes below a process, children of children included; zombies too.

    Not the spare workers: a nursery makes and ends them when it likes (`spares`).
    """
    found, parents = _below(pid)
    return {one for one in found if not _is_spare(one, parents[one])} - strangers


def spares(pid: int | None = None) -> set[int]:
    """The workers below a process that nobody has asked for yet."""
    found, parents = _below(pid)
    return {one for one in found if _is_spare(one, parents[one])} - strangers


def _below(pid: int | None) -> tuple[set[int], dict[int, int]]:
    found: set[int] = set()
    families = _by_parent()
    todo = [pid or os.getpid()]
    while todo:
        for child in families.get(todo.pop(), set()) - found:
            found.add(child)
            todo.append(child)
    return found, {child: parent for parent, family in families.items() for child in family}


def _is_spare(pid: int, parent: int) -> bool:
    """By its name: its maker's when it has just been forked, and none when it has just gone."""
    return name_of(parent) == "outlive-nursery" and name_of(pid) in ("outlive-spare", "outlive-nursery", "")


def hold_for_ever(lock: Any) -> None:
    """A thread takes a lock, and keeps it beyond the program's end."""
    taken = threading.Event()

    def run() -> None:
        with lock:
            taken.set()
            time.sleep(1000)

    threading.Thread(target=run, daemon=True).start()
    taken.wait()


def name_of(pid: int) -> str:
    """What the system calls a process; nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _by_parent() -> dict[int, set[int]]:
    table: dict[int, set[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                words = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
                table.setdefault(int(words[1]), set()).add(int(name))
    return table


def is_dead(pid: int) -> bool:
    """True if there is no such process, or only its remains: init may take long to look at them."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def wait_for_death(pids: set[int], timeout_s: float = 300) -> set[int]:
    """Those that are still alive after a while."""
    end = time.monotonic() + timeout_s
    while pids and time.monotonic() < end:
        pids = {pid for pid in pids if not is_dead(pid)}
        time.sleep(0.005)
    return pids


def descriptors() -> dict[str, str]:
    """What this process has open."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found[name] = os.readlink(f"/proc/self/fd/{name}")
    return found


def shared_blocks() -> list[str]:
    """The mappings of shared blocks in this process."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [line.rsplit(None, 2)[-2] for line in lines if "memfd:outlive" in line]


def private_bytes(pid: int | None = None) -> int:
    """The private memory of a process."""
    lines = Path(f"/proc/{pid or 'self'}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


def holdings() -> tuple[set[int], list[str], int]:
    """Everything of ours that the system holds for this process: processes, descriptors, shared blocks."""
    gc.collect()
    return children(), sorted(descriptors().values()), len(shared_blocks())


@contextlib.contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Checks that the lines inside leave no process, descriptor or shared block behind."""
    open_healthy().close()  # the nursery is to stay
    before = holdings()
    yield
    assert holdings() == before


def assert_well(facts: dict[str, Any]) -> None:
    """What a program that went round must have told."""
    assert facts["well"]
    assert (facts["code"], facts["signal"], facts["stage"]) == ("O109", "SIGSEGV", "invoke")
