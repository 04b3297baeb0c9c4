"""A worker's maker sees its death, whatever still holds its pipes; what the worker started goes with it."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.platforms.posix.process import system_calls
from outlive.process import factories
from tests.deaths import models, scenes
from tests.process.hostile import python_with

_FORK_AND_DIE = """
    import os, signal, time
    from outlive_child import model_host
    def die(self, header, payload):
        if os.fork() == 0:            # holds copies of all pipes, in a session of its own
            os.setsid()
            if os.fork() == 0:
                with open({marks!r}, "w") as file:
                    file.write(str(os.getpid()))
                time.sleep(1000)
            os._exit(0)
        while not (os.path.exists({marks!r}) and os.path.getsize({marks!r})):
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGSEGV)
    model_host.ModelHost.do_{verb} = die
"""


def _hostile(tmp_path: Path, verb: str) -> tuple[str, Path]:
    marks = tmp_path / "daemon"
    return python_with(tmp_path, _FORK_AND_DIE.format(marks=str(marks), verb=verb)), marks


@pytest.mark.parametrize("seconds", [None, 100.0])
@pytest.mark.parametrize("verb", ["open", "invoke"])
def test_a_child_of_the_worker_hides_no_death(tmp_path: Path, verb: str, seconds: float | None) -> None:
    python, marks = _hostile(tmp_path, verb)
    with pytest.raises(outlive.ModelDied) as raised:
        scenes.run_whole(outlive.Interpreter(scenes.HEALTHY, python=python, seconds=seconds))
    assert raised.value.flight.signal == "SIGSEGV"
    assert scenes.wait_for_death({int(marks.read_text())}) == set()


def test_pipes_are_not_handed_on_to_programs(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    payload = f"""
    import os, subprocess
    from outlive_child import model_host
    def look(self, header, payload):
        subprocess.run(["sh", "-c", "ls -l /proc/self/fd > {seen}"], close_fds=False)
        return {{}}, b""
    model_host.ModelHost.do_fill = look
    """
    with outlive.Interpreter(scenes.HEALTHY, python=python_with(tmp_path, payload)) as interpreter:
        interpreter.allocate_tensors()
        interpreter._ask({"do": "fill"})
    assert "/dev/" in seen.read_text()
    assert "pipe:" not in seen.read_text()
    assert "outlive-block" not in seen.read_text()


def test_three_descriptors_each() -> None:
    with scenes.open_healthy():
        before = len(scenes.descriptors())
        with scenes.open_healthy() as second:
            scenes.result(second)
            assert len(scenes.descriptors()) - before <= 3


@pytest.mark.parametrize("factory", ["nursery", "spawned"])
def test_what_was_running_is_known_although_others_have_the_cores(
    factory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker with no time at all to say where it was: it is given time, because it is on its way."""
    payload = """
    from outlive_child.platforms.posix.child import nursery
    nursery._OBEY_S = 0.0
    plain = nursery.NurseryServer._end
    def end_and_look(self, process, gently):
        plain(self, process, gently)
        self._look()
    nursery.NurseryServer._end = end_and_look
    """
    monkeypatch.setattr("outlive.process.worker._ENDING_TIMEOUT_S", 0.0)
    if factory == "spawned":
        monkeypatch.setattr(factories, "can_fork", lambda kind: False)
        monkeypatch.setattr("outlive.platforms.posix.process.spawning._OBEY_S", 1e-9)
        payload = ""
    interpreter = outlive.Interpreter(
        model_content=models.endless(), python=python_with(tmp_path, payload), seconds=300
    )
    interpreter.allocate_tensors()
    scenes.feed(interpreter, 1)
    scenes.set_deadline(interpreter, 0.5)
    with pytest.raises(outlive.LimitReached) as caught:
        interpreter.invoke()
    assert caught.value.flight is not None
    assert (caught.value.flight.signal, caught.value.flight.ended_by) == ("SIGABRT", "deadline")
    assert "most recent call first" in caught.value.flight.fault_trace


class Waits:
    """Every wait for the system while this is in force: how long each that came to nothing was to last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.vain_ms: list[float] = []
        self._wait, self._sleep, self._end = system_calls.wait, time.sleep, subprocess.Popen.wait
        monkeypatch.setattr(system_calls, "wait", self.wait)
        monkeypatch.setattr(time, "sleep", self.sleep)
        monkeypatch.setattr(subprocess.Popen, "wait", functools.partialmethod(Waits.wait_for_end, self))

    def wait(self, poll: Any, timeout_ms: float) -> list[tuple[int, int]]:
        found = self._wait(poll, timeout_ms)
        if not found:
            self.vain_ms.append(timeout_ms)
        return found

    def sleep(self, seconds: float) -> None:
        self.vain_ms.append(seconds * 1000)
        self._sleep(seconds)

    @staticmethod
    def wait_for_end(process: subprocess.Popen[bytes], waits: Waits, timeout: float | None = None) -> int:
        try:
            return waits._end(process, timeout)
        except subprocess.TimeoutExpired as error:
            waits.vain_ms.append(error.timeout * 1000)
            raise


@pytest.mark.parametrize("factory", ["nursery", "spawned"])
@pytest.mark.parametrize("stopped", ["nothing", "worker", "worker and nursery"])
def test_closing_waits_for_less_than_a_second(
    factory: str, stopped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what it asks of the system, and not by a clock: on a busy machine a second may take ten."""
    if factory == "spawned":
        monkeypatch.setattr(factories, "_factories", {})
        monkeypatch.setattr(factories, "can_fork", lambda kind: False)
    interpreter = scenes.open_healthy()
    scenes.result(interpreter)
    victim = interpreter.pid
    maker = int(Path(f"/proc/{victim}/status").read_text().partition("PPid:")[2].split()[0])
    if stopped != "nothing":
        os.kill(victim, signal.SIGSTOP)
    if stopped == "worker and nursery" and factory == "nursery":
        os.kill(maker, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        waits = Waits(patch)
        interpreter.close()
    assert sum(waits.vain_ms) < 1000
    assert bool(waits.vain_ms) or stopped == "nothing", "no wait was seen: what is measured here?"
    if maker != os.getpid():
        os.kill(maker, signal.SIGCONT)
    assert scenes.wait_for_death({victim}) == set()


# A program whose child is stopped before the child's first line of ours; it is told what has been stopped.
STOPPED_AT_START = """
from outlive.meter import is_stopped
from outlive.process import factories
from outlive.platforms.posix.process import nursery_client
nursery_client._LOOK_S = 1000  # or it would end what is stopped itself
{kind}
os.environ["STOP_AT_START"] = "1"
{opening}
while not (stopped := [pid for pid in scenes.children() if is_stopped(pid)]):
    time.sleep(0.01)
say(stopped=stopped)
{end}
"""
OPENING = {
    "interpreter": "threading.Thread(target=open_healthy, daemon=True).start()",
    "guard": "threading.Thread(target=outlive.guard(abs), args=(1,), daemon=True).start()",
}


@pytest.mark.parametrize("end", ["time.sleep(1000)", "factories.close_factories(); say(closed=True)"])
@pytest.mark.parametrize("kind", ["", "factories.can_fork = lambda kind: False"])
@pytest.mark.parametrize("opening", OPENING)
def test_what_was_stopped_at_its_start_does_not_stay(
    opening: str, kind: str, end: str, tmp_path: Path
) -> None:
    lines = "import os, signal\nif os.environ.get('STOP_AT_START'): os.kill(os.getpid(), signal.SIGSTOP)"
    process = scenes.start(
        STOPPED_AT_START.format(kind=kind, opening=OPENING[opening], end=end),
        env=scenes.without(tmp_path, lines),
    )
    assert process.stdout is not None
    try:
        stopped = {*json.loads(process.stdout.readline())["stopped"]}
        assert stopped
        if "close" in end:
            assert json.loads(process.stdout.readline())["closed"]
    finally:
        process.kill()
        process.communicate()
    assert scenes.wait_for_death(stopped) == set()


def test_opening_counts_against_seconds(tmp_path: Path) -> None:
    """A maker of workers that does not answer: the caller gets its error, and not after minutes."""
    payload = """
    import time
    from outlive_child.platforms.posix.child import nursery
    nursery.NurseryServer._fork = lambda self, message, descriptors, is_whole: None
    """
    with pytest.raises(outlive.LimitReached) as raised:
        outlive.Interpreter(scenes.HEALTHY, python=python_with(tmp_path, payload), seconds=0.5)
    assert (raised.value.finding.code, raised.value.flight.stage) == ("D503", "start")


def test_a_stopped_nursery_is_replaced() -> None:
    interpreter = scenes.open_healthy()
    expected = scenes.result(interpreter)
    status = Path(f"/proc/{interpreter.pid}/status").read_text()
    nursery = int(status.partition("PPid:")[2].split()[0])
    os.kill(nursery, signal.SIGSTOP)
    assert np.array_equal(scenes.result(scenes.open_healthy()), expected)
    assert scenes.wait_for_death({nursery, interpreter.pid}) == set()


def test_a_fork_does_not_wait_for_a_nursery_that_starts(tmp_path: Path) -> None:
    """The program's own fork must not stand still while another thread waits for a runtime to load."""
    payload = """
    import os, time
    from outlive_child import runtimes
    plain = runtimes.preload
    def slow(name):
        while not os.path.exists(GO):
            time.sleep(0.01)
        return plain(name)
    runtimes.preload = slow
    """
    go = tmp_path / "go"
    python = python_with(tmp_path, payload.replace("GO", repr(str(go))))
    opened: list[Any] = []
    thread = threading.Thread(
        target=lambda: opened.append(outlive.Interpreter(scenes.HEALTHY, python=python))
    )
    thread.start()
    subprocess.run(["true"], check=True)
    process = os.fork()  # with the lock held this would stand still until somebody says go
    if process == 0:
        os._exit(0)
    os.waitpid(process, 0)
    go.write_text("go")
    thread.join()
    opened[0].close()


def test_a_stopped_nursery_ends_with_its_program() -> None:
    """The system wakes it when its parent ends; then it ends its workers, stopped ones too."""
    process = scenes.start("""
    interpreter = open_healthy()
    family = scenes.children()
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    say(family=sorted(family))
    os.kill(os.getpid(), signal.SIGKILL)
    """)
    with process:
        out, _ = process.communicate(timeout=300)
    family = set(json.loads(out.splitlines()[-1])["family"])
    assert len(family) >= 2
    assert scenes.wait_for_death(family) == set()


def test_a_storm_of_interrupts_leaves_no_zombies() -> None:
    process = scenes.start("""
    from outlive.process import factories
    open_healthy().close()
    stop = threading.Event()
    def storm():
        while not stop.wait(0.007):
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=storm, daemon=True).start()
    rounds = 0
    while rounds < 200:
        try:
            rounds += 1
            interpreter = open_healthy()
            interpreter.close()
            if rounds % 3 == 0:
                factories.close_factories()
        except KeyboardInterrupt:
            pass
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop.set()
    interpreter = None
    scenes.gc.collect()
    factories.close_factories()
    left = scenes.wait_for_death(scenes.children())
    factories.close_factories()  # as at the next start: who took longer to end is waited for now
    zombies = [scenes.name_of(pid) for pid in scenes.children() if scenes.is_dead(pid)]
    say(left=sorted(left), zombies=zombies)
    """)
    with process:
        out, _ = process.communicate(timeout=120)  # Python itself complains of interrupted finalizers
    assert json.loads(out) == {"left": [], "zombies": []}


@pytest.mark.parametrize("blow", ["SIGKILL", "SIGSTOP"])
def test_a_nursery_that_is_struck_while_it_starts_is_replaced(tmp_path: Path, blow: str) -> None:
    once = tmp_path / "once"
    payload = f"""
    import os, signal
    if not os.path.exists({str(once)!r}):
        open({str(once)!r}, "w").close()
        os.kill(os.getpid(), signal.{blow})
    """
    with outlive.Interpreter(scenes.HEALTHY, python=python_with(tmp_path, payload)) as interpreter:
        scenes.run_whole(interpreter)
    assert once.exists()
