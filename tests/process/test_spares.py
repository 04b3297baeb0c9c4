"""A worker that is forked ahead: taken by the next interpreter, missed by nobody when it is gone."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.platforms.posix.child import worker_requests
from tests.deaths import scenes
from tests.deaths.scenes import open_healthy, result

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="a spare worker needs a system that can fork, and a second core",
)


def await_spare() -> int:
    """The spare worker, as soon as there is one that waits."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        for pid in scenes.spares():
            if scenes.name_of(pid) == "outlive-spare":
                return pid
        time.sleep(0.005)
    raise AssertionError("there is no spare worker")


def test_the_next_interpreter_takes_it() -> None:
    with open_healthy() as first:
        waiting = await_spare()
        assert waiting != first.pid
        with open_healthy() as second:
            assert second.pid == waiting
            assert np.array_equal(result(second), result(first))
            assert await_spare() != waiting


def test_it_is_limited_and_traced_like_any_other() -> None:
    with open_healthy():
        waiting = await_spare()
        dying = outlive.Interpreter(scenes.DEADLY, memory="64MB")
        assert dying.pid == waiting
        dying.allocate_tensors()
        scenes.feed(dying)
        with pytest.raises(outlive.ModelDied) as raised:
            dying.invoke()
        flight = raised.value.flight
        assert (flight.signal, flight.stage) == ("SIGSEGV", "invoke")
        assert flight.frames
        assert flight.limits["data_bytes"]


def test_it_holds_nothing_of_the_other_workers() -> None:
    """A pipe's end in a third process would hide a worker's death from its owner."""
    with open_healthy():
        folder = Path(f"/proc/{await_spare()}/fd")
        held = {name.name: os.readlink(name) for name in folder.iterdir()}
        assert {name: target for name, target in held.items() if "pipe:" in target or "memfd:" in target} in (
            {},
            {"2": held["2"]},  # what the nursery itself prints
        )
        assert sum("socket:" in target for target in held.values()) == 1


def test_a_killed_spare_is_not_missed() -> None:
    def open_without(victim: int) -> None:
        os.kill(victim, signal.SIGKILL)
        assert scenes.wait_for_death({victim}) == set()
        with open_healthy() as interpreter:
            assert interpreter.pid != victim
            assert result(interpreter).any()

    with scenes.nothing_left_behind():
        for _ in range(10):
            open_without(await_spare())


def test_one_that_is_killed_as_it_is_taken_is_a_worker_that_died() -> None:
    def open_beside(victim: int) -> str:
        os.kill(victim, signal.SIGKILL)
        try:
            with open_healthy() as interpreter:
                assert result(interpreter).any()
        except outlive.ModelDied as error:
            assert error.flight.signal == "SIGKILL"
            return error.finding.code
        return ""

    with scenes.nothing_left_behind():
        assert {open_beside(await_spare()) for _ in range(30)} <= {"", "D508"}


FAMILY = """
interpreter = open_healthy()
while not [pid for pid in scenes.spares() if scenes.name_of(pid) == "outlive-spare"]:
    time.sleep(0.01)
nursery = next(pid for pid in scenes.children() if scenes.name_of(pid) == "outlive-nursery")
say(spares=sorted(scenes.spares()), nursery=nursery)
time.sleep(60)
"""


@pytest.mark.parametrize("killed", ["program", "nursery"])
def test_it_goes_with_its_makers(killed: str) -> None:
    process = scenes.start(FAMILY)
    assert process.stdout is not None
    try:
        facts = json.loads(process.stdout.readline())
        os.kill(process.pid if killed == "program" else facts["nursery"], signal.SIGKILL)
        assert scenes.wait_for_death({*facts["spares"]}) == set()
    finally:
        process.kill()
        process.communicate()


def test_there_is_none_on_a_single_core() -> None:
    facts = scenes.play("""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    kept = [open_healthy() for _ in range(3)]
    outlive.Interpreter(HEALTHY).close()  # the nursery has had time for one
    say(spares=len(scenes.spares()))
    """)
    assert facts["spares"] == 0


# --- the keeper of the spare ------------------------------------------------------------------------


def wait_and_go(channel: socket.socket) -> None:
    with contextlib.suppress(OSError):
        channel.recv(1)
    os._exit(0)


def die_at_once(channel: socket.socket) -> None:
    os._exit(3)


def keeper(become: Callable[[socket.socket], None]) -> worker_requests.SpareWorker:
    made = worker_requests.SpareWorker(become)
    made.make()
    assert made.process()
    return made


def test_one_that_nobody_wants_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(worker_requests.time, "monotonic", lambda: now[0])
    kept = keeper(wait_and_go)
    process, pause_ms = kept.process(), kept.pause_ms()
    assert pause_ms is not None
    assert pause_ms == 10_001
    kept.look()
    assert kept.process() == process
    now[0] += worker_requests._KEPT_S
    kept.look()
    assert (kept.process(), kept.pause_ms()) == (0, None)
    assert os.waitpid(process, 0)[1] == signal.SIGKILL


def test_an_order_to_a_dead_one_is_no_order() -> None:
    before = scenes.descriptors()
    kept = keeper(die_at_once)
    process = kept.process()
    os.waitpid(process, 0)
    assert not kept.begin({"fork": 1}, [0])
    assert not kept.process()
    assert scenes.descriptors() == before


def test_no_process_to_be_had_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError

    before = scenes.descriptors()
    monkeypatch.setattr(os, "fork", refuse)
    kept = worker_requests.SpareWorker(wait_and_go)
    kept.make()
    assert not kept.process()
    assert scenes.descriptors() == before
