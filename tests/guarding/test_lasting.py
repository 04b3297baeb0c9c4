"""What stays of guarded calls: idle workers end, a death costs the caller little, no line is lost."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import cloudpickle
import pytest

import outlive
from outlive.guarding import guard_process as process
from outlive.guarding import worker_output as outputs
from outlive.guarding.pool import pool
from outlive.rules.catalogue import load_rules
from outlive.verbs.guard import guarded
from tests.deaths.restrictions import linux_only
from tests.deaths.scenes import shared_blocks
from tests.guarding.scenes import gone, is_running, play

pytestmark = linux_only
IDLE_S = 2.0  # much longer than a call takes, on a busy machine too


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers that end after two seconds without a call, and none from before."""
    pool.close()
    monkeypatch.setattr(process, "IDLE_S", IDLE_S)
    yield
    pool.close()


def test_a_worker_that_nobody_calls_ends_and_the_next_call_gets_another(impatient: None) -> None:
    whose = outlive.guard(os.getpid)
    first = whose()
    assert gone(first)
    second = whose()
    assert second != first
    assert whose() == second


def test_a_spare_that_leaves_as_its_first_call_comes_is_replaced_unnoticed(
    impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    spare = process.GuardProcess()
    spare.greet()
    pool.give(spare)
    assert gone(spare.pid)
    monkeypatch.setattr(process.GuardProcess, "is_alive", lambda _: True)  # seen a moment before
    assert outlive.guard(os.getpid)() != spare.pid


def test_a_call_makes_a_worker_wait_anew(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """By how long it asks the system to wait after each call: the whole time, each time."""
    monkeypatch.setattr(process, "IDLE_S", 500.0)

    def listen() -> None:
        link = sys.modules["outlive_child.guard.link"].Link
        wait, link.asked_ms = link._wait, []

        def ask(self: Any, timeout_ms: float) -> bool:
            link.asked_ms.append(timeout_ms)
            return bool(wait(self, timeout_ms))

        link._wait = ask

    def asked_ms() -> list[float]:
        return list(sys.modules["outlive_child.guard.link"].Link.asked_ms)

    outlive.guard(listen)()
    for _ in range(8):
        time.sleep(0.1)  # longer than it stays awake, so that it asks
        outlive.guard(abs)(1)
    long = [one for one in outlive.guard(asked_ms)() if one > 1000]
    assert set(long) == {500_000.0}


def test_a_stream_is_waited_for(impatient: None) -> None:
    def count() -> Iterator[int]:
        yield os.getpid()
        yield 2

    stream = outlive.guard(count)()
    pid = next(stream)
    time.sleep(3 * IDLE_S)
    assert is_running(pid)
    assert list(stream) == [2]


def test_a_callers_iterator_may_take_its_time(impatient: None) -> None:
    def slowly() -> Iterator[int]:
        yield 1
        time.sleep(3 * IDLE_S)
        yield 2

    assert outlive.guard(sum)(slowly()) == 3


def test_a_line_that_is_read_when_ctrl_c_comes_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = os.read

    def read_and_press(end: int, size: int) -> bytes:
        data = real(end, size)
        if b"the last line" in data:
            os.kill(os.getpid(), signal.SIGINT)  # its handler runs before this function returns
        return data

    def speak() -> None:
        sys.stdout.write("the last line\n")  # at once; print writes the end of a line apart
        sys.stdout.flush()
        time.sleep(60)

    monkeypatch.setattr(outputs.operating_system, "read", read_and_press)
    with pytest.raises(KeyboardInterrupt):
        outlive.guard(speak, seconds=300)()
    assert capsys.readouterr().out == "the last line\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_is_not_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    real = os.read

    def read_and_press(end: int, size: int) -> bytes:
        if not steps:
            steps.append("pressed")
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("held back")
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("never")
        return real(end, size)

    def speak() -> None:
        print("a line", flush=True)
        time.sleep(60)

    monkeypatch.setattr(outputs.operating_system, "read", read_and_press)
    with pytest.raises(KeyboardInterrupt):
        outlive.guard(speak, seconds=300)()
    assert steps == ["pressed", "held back"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_guarded_function_that_is_sent_keeps_its_terms() -> None:
    sent = guarded(abs, memory="1GB", seconds=700, fresh=True, recycle=3, quiet=True)
    came = pickle.loads(cloudpickle.dumps(sent))
    assert (came.limits, came.fresh, came.recycle) == (sent.limits, True, 3)
    assert came._terms.quiet


def test_the_rules_on_flights_alone_are_those_of_the_catalogue() -> None:
    deaths = tuple(rule for rule in load_rules() if rule.facts == ("flight",) and rule.code.startswith("D"))
    assert deaths == load_rules("D50", "D51")


def test_the_first_death_costs_the_caller_little() -> None:
    done = play(
        """
        import gc
        def private():
            gc.collect()
            with open("/proc/self/smaps_rollup") as rows:
                found = dict(row.split(":") for row in rows if ":" in row.partition(" ")[0])
            return 1024 * sum(int(found[name].split()[0]) for name in ("Private_Clean", "Private_Dirty"))
        assert outlive.guard(abs)(-1) == 1
        before = private()
        for end in (os.abort, lambda: os._exit(3), lambda: os.kill(os.getpid(), 9)):
            try:
                outlive.guard(end)()
            except outlive.ModelDied as error:
                print(error.finding.code)
        print(private() - before, "numpy" in sys.modules)
        """
    )
    *codes, last = done.stdout.splitlines()
    grown, has_numpy = last.split()
    assert codes == ["D505", "D509", "D508"]
    assert int(grown) < 5_000_000, done.stdout
    assert has_numpy == "False"


def test_an_error_of_a_library_does_not_load_it() -> None:
    done = play(
        """
        def too_much():
            import numpy
            return numpy.ones(10**12)
        try:
            outlive.guard(too_much, memory="1GB")()
        except MemoryError as error:
            print(type(error).__name__, "numpy" in sys.modules, "Unable to allocate" in str(error))
        """
    )
    assert done.stdout.split() == ["MemoryError", "False", "True"]


def test_an_error_that_is_kept_keeps_no_shared_memory() -> None:
    pool.close()
    before = len(shared_blocks())
    kept = []
    for _ in range(3):
        with pytest.raises(outlive.ModelDied) as caught:
            outlive.guard(os.abort)()
        kept.append(caught.value)
    end = time.monotonic() + 300
    while (held := len(shared_blocks())) > before and time.monotonic() < end:
        pool.close()  # a spare for the next call may only be on its way, and come even after this
        time.sleep(0.05)
    assert held <= before
    assert all(error.__traceback__ is not None for error in kept)


def test_what_died_is_named_as_what_it_was() -> None:
    with pytest.raises(outlive.ModelDied) as caught:
        outlive.guard(os._exit)(7)
    finding = caught.value.finding
    assert finding.headline == "Process exited without an answer: exit code 7"
    assert "model" not in str(caught.value)
