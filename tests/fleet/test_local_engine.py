"""Engine processes of this machine: nothing is left of them, whichever call fails and whoever is killed."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.fleet import local_engine
from outlive.fleet.local_engine import LocalEngine, ProcessLost
from outlive.fleet.rows import EngineError
from outlive.platforms.posix.process import system_calls
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only
from tests.fleet import made

pytestmark = linux_only


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A file that is soon looked at."""
    (tmp_path / "a.tflite").write_bytes(b"no model at all")
    return tmp_path


@pytest.fixture
def nothing_left(broken: Path) -> Iterator[None]:
    """After the test all descriptors and processes are as before, and the next scan works."""
    before = scenes.descriptors(), scenes.children()
    yield
    assert (scenes.descriptors(), scenes.children()) == before
    assert outlive.scan(broken, cache=False, jobs=1).tally.outcomes["broken"]


def fail_at(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, nth: int) -> None:
    """Have the n-th call of a function, and those after it, fail as the system would."""
    real, calls = getattr(place, name), []

    def call(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) >= nth:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(*arguments, **options)

    monkeypatch.setattr(place, name, call)


@pytest.mark.parametrize(
    ("place", "name", "nth"),
    [
        (os, "pipe", 1),
        (os, "pipe", 2),
        (os, "set_blocking", 1),
        (subprocess, "Popen", 1),
    ],
)
def test_what_cannot_be_started_is_said_and_leaves_nothing(
    broken: Path, nothing_left: None, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, nth: int
) -> None:
    with monkeypatch.context() as patch:
        fail_at(patch, place, name, nth)
        with pytest.raises(EngineError, match="the engine cannot start: Input/output error"):
            outlive.scan(broken, cache=False, jobs=1)


@pytest.mark.parametrize("name", ["read", "write"])
def test_a_pipe_that_fails_costs_a_row_and_nobody_waits_for_ever(
    broken: Path, nothing_left: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with monkeypatch.context() as patch:
        fail_at(patch, local_engine.operating_system if name == "read" else system_calls, name, 1)
        [row] = outlive.scan(broken, cache=False, jobs=1)
    assert row.outcome == "lost"
    assert "Input/output error" in row.note


def test_no_thread_is_needed(broken: Path, nothing_left: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert len(outlive.scan(broken, cache=False, jobs=1)) == 1


def test_rows_come_where_the_system_has_no_memory_to_wait(
    broken: Path, nothing_left: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def see_nothing(poll: Any, timeout_ms: float) -> list[tuple[int, int]]:
        time.sleep(0.01)
        return local_engine.operating_system.BLIND

    with monkeypatch.context() as patch:
        patch.setattr(local_engine.operating_system, "wait", see_nothing)
        assert len(outlive.scan(broken, cache=False, jobs=1)) == 1


def test_too_few_descriptors(broken: Path, nothing_left: None) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(EngineError, match="the engine cannot start: Too many open files"):
            list(LocalEngine(500).results(made.only_named, iter([made.task("a")])))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_fewer_processes_do_where_no_more_can_be_started(
    broken: Path, nothing_left: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "bcde":
        (broken / f"{name}.tflite").write_bytes(name.encode())
    with monkeypatch.context() as patch:
        fail_at(patch, subprocess, "Popen", 2)
        scan = outlive.scan(broken, cache=False, jobs=3)
    assert scan.tally.outcomes == {"broken": 5}


def test_a_process_is_seen_to_be_gone_though_a_child_holds_its_pipe(tmp_path: Path) -> None:
    engine, written = LocalEngine(1), tmp_path / "child"
    try:
        with pytest.raises(ProcessLost, match="killed by SIGKILL"):
            list(engine.results(made.leave_a_child_and_die, iter([made.task(written)])))
        child = int(written.read_text("utf-8"))
        assert Path(f"/proc/{child}").exists(), "the pipe was not held"
    finally:
        os.kill(int(written.read_text("utf-8")), signal.SIGKILL)


def test_what_a_function_raises_is_said(nothing_left: None) -> None:
    engine = LocalEngine(1)
    with pytest.raises(ProcessLost, match="KeyError: 'planted'"):
        list(engine.results(made.refuse, iter([made.task("a")])))
    engine.close()


def test_a_process_that_is_stopped_is_not_waited_for(
    nothing_left: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_engine, "_LOOK_MS", 10)
    with pytest.raises(ProcessLost, match="was stopped and did not resume"):
        list(LocalEngine(1).results(made.stand_still, iter([made.task("a")])))


# A program that is killed while its engine process starts, or while it looks at a file. The process has our
# end of stderr: who reads it waits until both are gone.
KILLED = """
import os, sys
from outlive.fleet.local_engine import EngineProcess
from outlive.meter import is_stopped
if sys.argv[1] == "stopped":
    os.environ["STOP_AT_START"] = "1"
from tests.fleet import made
process = EngineProcess()
if sys.argv[1] == "stopped":
    while not is_stopped(process._process.pid):
        pass
if sys.argv[1] == "busy":
    process.give(made.mark_and_hang, made.task(sys.argv[2]))
    while not os.path.exists(sys.argv[2]):
        pass
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("moment", ["starting", "stopped", "busy"])
def test_engine_processes_go_with_a_program_that_is_killed(moment: str, tmp_path: Path) -> None:
    lines = "import os, signal\nif os.environ.get('STOP_AT_START'): os.kill(os.getpid(), signal.SIGSTOP)"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, moment, tmp_path / "mark"],
        stderr=subprocess.PIPE,
        timeout=300,
        check=False,
        env={**os.environ, **scenes.without(tmp_path, lines)},
    )
    assert (done.returncode, done.stderr) == (-9, b"")


# A program that dies of broken pipes, and gives a task to a process that was killed while it waited for one.
BROKEN_PIPE = """
import os, signal
from outlive.fleet.local_engine import LocalEngine
from tests.fleet import made
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
engine = LocalEngine(1)
assert list(engine.results(made.only_named, iter([made.task("a")])))
[process] = engine._idle
process._process.kill()
process._process.wait()
try:
    list(engine.results(made.only_named, iter([made.task("a")])))
except BrokenPipeError:
    os._exit(7)
"""


def test_a_program_that_dies_of_broken_pipes_does_not_die_of_ours() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BROKEN_PIPE],
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": scenes.PATH},
    )
    assert done.returncode == 7


def test_a_task_does_not_wait_for_a_thread_that_has_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise MemoryError

    monkeypatch.setattr(local_engine, "require_thread", refuse)
    monkeypatch.setattr(threading.Thread, "start", lambda self: pytest.fail("it is waited for"))
    home = local_engine.WorkerLifetime()
    with home.task():
        pass
    assert home.idle
