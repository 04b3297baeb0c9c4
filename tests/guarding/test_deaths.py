"""Functions that die, hang and eat memory, for real; the caller goes on, and knows why."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.guarding.guard_process import GuardProcess
from outlive.guarding.pool import pool
from outlive.process.limits import DeadlineMissed
from tests.deaths.moments import Clock
from tests.deaths.restrictions import linux_only
from tests.guarding.scenes import gone, play, shared_memory

pytestmark = linux_only


def fault() -> None:
    """A null pointer."""
    ctypes.string_at(0)


def leave() -> None:
    """No farewell."""
    os._exit(7)


def kill_itself() -> None:
    """As somebody outside would."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("function", "code", "ended"),
    [
        (fault, "D504", "SIGSEGV"),
        (os.abort, "D505", "SIGABRT"),
        (kill_itself, "D508", "SIGKILL"),
        (leave, "D509", 7),
    ],
)
def test_a_death_is_a_typed_error_with_the_flight(function: Any, code: str, ended: Any) -> None:
    before = shared_memory()
    with pytest.raises(outlive.ModelDied) as caught:
        outlive.guard(function)()
    flight = caught.value.flight
    assert caught.value.finding.code == code
    assert ended in (flight.signal, flight.exit_code)
    assert (flight.died, flight.stage) == (True, "call")
    assert gone(flight.pid)
    assert outlive.guard(abs)(-3) == 3
    assert shared_memory() == before


def test_a_fault_has_its_python_and_native_stack() -> None:
    with pytest.raises(outlive.ModelDied) as caught:
        outlive.guard(fault)()
    flight = caught.value.flight
    assert "in fault" in flight.fault_trace
    assert any("string_at" in frame for frame in flight.frames), flight.frames


def test_a_death_with_arrays_on_their_way_leaves_nothing() -> None:
    before = shared_memory()
    x = np.ones(2_000_000)
    with pytest.raises(outlive.ModelDied):
        outlive.guard(lambda x: (x.sum(), os.abort()))(x)
    assert shared_memory() == before


def test_a_hang_ends_at_its_deadline_with_the_stacks_of_all_threads(clock: Clock, tmp_path: Path) -> None:
    waiting = tmp_path / "waiting"

    def wait_for_nobody() -> None:
        begun = threading.Event()

        def also_waiting() -> None:
            begun.set()
            time.sleep(1000)

        threading.Thread(target=also_waiting, daemon=True).start()
        begun.wait()
        waiting.touch()
        time.sleep(1000)

    clock.advance_when(waiting.exists)
    with pytest.raises(outlive.LimitReached) as caught:
        outlive.guard(wait_for_nobody, seconds=300)()
    error = caught.value
    assert error.finding.code == "D503"
    assert error.flight.ended_by == "deadline"
    assert "wait_for_nobody" in error.flight.fault_trace
    assert "also_waiting" in error.flight.fault_trace
    assert gone(error.flight.pid)


def test_what_a_dying_function_printed_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    def speak_and_die() -> None:
        print("out", end="")
        os.write(2, b"last words")
        os.abort()

    with pytest.raises(outlive.ModelDied) as caught:
        outlive.guard(speak_and_die)()
    said = capfd.readouterr()
    assert said.out == "out"
    assert "last words" in said.err
    assert "last words" in caught.value.flight.stderr_tail


def test_python_memory_error_comes_back_as_one_with_its_verdict() -> None:
    def ask_for_much() -> Any:
        return np.ones(400_000_000, dtype=np.uint8)

    with pytest.raises(MemoryError) as caught:
        outlive.guard(ask_for_much, memory="100MB")()
    error: Any = caught.value
    said = "".join(getattr(error, "__notes__", [])) + str(error.__cause__)
    assert "the function requested 400 MB at once, the limit is 100 MB" in said
    assert (error.finding.code, error.finding.cause) == ("D502", "out-of-memory")
    assert error.flight.machine["total_bytes"] > 0
    assert outlive.guard(ask_for_much, memory="600MB")().size == 400_000_000


def test_the_limit_is_what_a_call_adds() -> None:
    def take(size: int) -> int:
        return int(np.ones(size, dtype=np.uint8).sum())

    taking = outlive.guard(take, memory="150MB")
    assert [taking(100_000_000) for _ in range(5)] == [100_000_000] * 5


def test_memory_that_the_system_does_not_count_is_watched_from_outside() -> None:
    def take() -> None:
        held = []
        for _ in range(1000):
            held.append(bytearray(b"x" * 4_000_000))
            time.sleep(0.005)

    def lifted() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        take()

    with pytest.raises(outlive.LimitReached) as caught:
        outlive.guard(lifted, memory="200MB")()
    flight = caught.value.flight
    assert caught.value.finding.code == "D502"
    assert flight.ended_by == "memory"
    assert "in take" in flight.fault_trace
    assert flight.peak_bytes > 150_000_000


def test_a_worker_that_dies_while_idle_is_replaced_unnoticed() -> None:
    pid = outlive.guard(os.getpid)
    first = pid()
    os.kill(first, signal.SIGKILL)
    assert gone(first)
    assert pid() != first


def test_a_worker_whose_memory_is_spoiled_cannot_mislead_its_caller() -> None:
    def spoil() -> None:
        import gc
        import pickle
        import struct

        from outlive_child.guard import message_frames as frames  # type: ignore[import-not-found]

        answer = frames.pack(frames.VALUE, (0, 0, 0, 1), pickle.dumps("not the answer"))
        head, body, checksum = struct.unpack_from("<III", answer)
        spoiled = struct.pack("<III", head, body, checksum ^ 1) + answer[12:]
        for lane in [one for one in gc.get_objects() if type(one).__name__ == "Lane"]:
            lane._slot[: len(spoiled)] = spoiled
            lane.words[1] = len(spoiled)
            lane.words[0] += 1
        time.sleep(1000)

    with pytest.raises(outlive.RunError) as caught:
        outlive.guard(spoil, seconds=300, fresh=True)()
    assert caught.value.flight.ended_by == "malformed"
    assert outlive.guard(abs)(-1) == 1


def test_a_long_call_has_a_timeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grown, seen = tmp_path / "grown", tmp_path / "seen"
    sample = GuardProcess._sample

    samples: list[bool] = []

    def sample_and_say(process: GuardProcess) -> None:
        samples.append(grown.exists())
        sample(process)
        if sum(samples) >= 2:
            seen.touch()

    def grow_and_die() -> None:
        held = [np.ones(3_000_000) for _ in range(3)]
        grown.touch()
        while not seen.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL + 0 * len(held))

    monkeypatch.setattr(GuardProcess, "_sample", sample_and_say)
    while pool._starting:  # a spare that is on its way is one from before, too
        time.sleep(0.01)
    pool.close()
    with pytest.raises(outlive.ModelDied) as caught:
        outlive.guard(grow_and_die, fresh=True)()
    flight = caught.value.flight
    assert len(flight.timeline) > 2
    assert flight.peak_bytes > 60_000_000


def test_what_a_function_started_goes_with_it() -> None:
    def start_and_die(path: str) -> None:
        import subprocess

        child = subprocess.Popen(["sleep", "1000"])
        with open(path, "w") as file:
            file.write(str(child.pid))
        os.abort()

    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        with pytest.raises(outlive.ModelDied):
            outlive.guard(start_and_die)(file.name)
        assert gone(int(file.read()))


def test_a_death_is_seen_although_a_copy_of_the_worker_lives_on(tmp_path: Path) -> None:
    def leave_a_copy(path: str) -> None:
        child = os.fork()
        if not child:
            os.setsid()
            time.sleep(1000)
        with open(path, "w") as file:
            file.write(str(child))
        time.sleep(0.3)
        os.abort()

    path = tmp_path / "copy"
    with pytest.raises(outlive.ModelDied) as caught:
        outlive.guard(leave_a_copy)(str(path))
    assert caught.value.flight.signal == "SIGABRT"
    assert gone(int(path.read_text()))  # its maker ends what it has left


def test_the_callers_death_takes_the_worker_with_it(tmp_path: Path) -> None:
    running = tmp_path / "running"
    play(
        f"""
        import signal, threading
        from pathlib import Path
        running = Path({str(running)!r})
        def die():
            while not running.exists() or not running.read_text():
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        threading.Thread(target=die).start()
        def run():
            running.write_text(str(os.getpid()))
            time.sleep(1000)
        outlive.guard(run)()
        """,
        expect=-signal.SIGKILL,
    )
    assert gone(int(running.read_text()))


def test_the_callers_ordinary_end_takes_idle_workers_with_it() -> None:
    done = play("print(outlive.guard(os.getpid)())")
    assert gone(int(done.stdout))


def test_a_worker_that_is_stopped_while_it_starts_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlive.guarding.guard_process._LOOK_S", 0.05)
    never_s = 1e9  # so that only its standing still ends the wait
    missed = False
    for _ in range(20):  # one may be ready before it is stopped
        process = GuardProcess()
        os.kill(process.pid, signal.SIGSTOP)
        try:
            process.greet(never_s)
        except DeadlineMissed:
            missed = True
        process.end()
        if missed:
            break
    assert missed
