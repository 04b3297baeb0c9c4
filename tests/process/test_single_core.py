"""Where both sides share a core, the one that waits gives it to the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from outlive.platforms.posix.process import answer_wait
from outlive.platforms.posix.process.shared_block import SharedBlock
from outlive.process.child import wire
from tests.interpreter.dropin_models import unary


class Looked:
    """A block that has the answer at the third look; tells whenever somebody looks."""

    def __init__(self, tell: Callable[[], object]) -> None:
        self.words = self
        self._tell, self._looks = tell, 0

    def __getitem__(self, word: int) -> int:
        self._tell()
        self._looks += 1
        return self._looks // 3


pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")

_PROGRAM = """
import json, os, subprocess, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
import numpy as np
import outlive
from outlive.platforms.posix.process.answer_wait import wait_mode

busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(int(sys.argv[1]))]
try:
    with outlive.Interpreter(model_content=sys.stdin.buffer.read()) as interpreter:
        interpreter.allocate_tensors()
        row, output = interpreter.get_input_details()[0], interpreter.get_output_details()[0]["index"]
        answers = set()
        for number in range(300):
            interpreter.set_tensor(row["index"], np.full(row["shape"], number % 3, row["dtype"]))
            interpreter.invoke()
            answers.add((number % 3, interpreter.get_tensor(output).tobytes().hex()))
finally:
    for one in busy:
        one.kill()
        one.wait()
print(json.dumps({"way": wait_mode(), "answers": len(answers)}))
"""


# How often the worker sleeps, and how soon a neighbour is noticed, is measured by benchmarks/call_waiting.py.
@pytest.mark.parametrize("busy", [0, 1], ids=["alone", "beside a busy program"])
def test_calls_on_one_core_have_the_right_answers(busy: int) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(busy)]
    model = unary("FLOOR", "FLOAT32", [1, 16])
    done = subprocess.run(command, input=model, capture_output=True, timeout=500, check=True)
    assert json.loads(done.stdout) == {"way": "yield", "answers": 3}


class Clock:
    """A clock that goes on by a step at each look."""

    def __init__(self, step_ns: int = 0) -> None:
        self.now_ns, self.step_ns = 10**12, step_ns

    def perf_counter_ns(self) -> int:
        self.now_ns += self.step_ns
        return self.now_ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(answer_wait.time, "perf_counter_ns", made.perf_counter_ns)
    return made


def test_the_one_that_waits_gives_the_core_away(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    given: list[str] = []
    monkeypatch.setattr(os, "sched_yield", lambda: given.append("given"))
    waiter = answer_wait.AdaptiveWait(SharedBlock(), "yield")
    waiter._block = Looked(lambda: given.append("looked"))  # type: ignore[assignment]
    assert waiter.wait_awake(1)
    assert given[:2] == ["given", "looked"]
    assert "looked looked looked" not in " ".join(given)


def test_an_answer_that_comes_late_is_not_waited_for_awake(clock: Clock) -> None:
    clock.step_ns = answer_wait._SPIN_NS
    for way in ("yield", "spin"):
        waiter = answer_wait.AdaptiveWait(SharedBlock(), way)
        assert not waiter.wait_awake(1)


@pytest.mark.parametrize(("way", "often"), [("yield", 2), ("spin", 4)])
def test_a_busy_neighbour_is_noticed(clock: Clock, way: str, often: int) -> None:
    block = SharedBlock()
    waiter = answer_wait.AdaptiveWait(block, way)
    for _ in range(often - 1):
        waiter.learn(1000)  # quick work, and yet we waited in vain: the worker had no core
    assert (waiter.calls_to_sleep, block.words[wire.PATIENT]) == (0, 0)
    waiter.learn(1000)
    assert (waiter.calls_to_sleep, block.words[wire.PATIENT]) == (64, 1)
    for _ in range(64):
        waiter.count_slept_call()
    assert (waiter.calls_to_sleep, block.words[wire.PATIENT]) == (0, 0)


def test_patience_grows_while_a_neighbour_stays_and_is_forgotten_after_that(clock: Clock) -> None:
    waiter = answer_wait.AdaptiveWait(SharedBlock(), "yield")
    seen = []
    for pause_ns in (0, 0, 0, 0, 0, 0, answer_wait._RECENTLY_NS):
        clock.now_ns += pause_ns
        waiter.learn(1000)
        waiter.learn(1000)
        seen.append(waiter.calls_to_sleep)
    assert seen == [64, 128, 256, 512, 1024, 1024, 64]


@pytest.mark.parametrize(
    ("cores", "machine", "way"),
    [(1, "aarch64", "yield"), (1, "x86_64", "yield"), (4, "x86_64", "spin"), (4, "aarch64", "")],
)
def test_the_wait_mode(monkeypatch: pytest.MonkeyPatch, cores: int, machine: str, way: str) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert answer_wait.wait_mode() == way


def test_a_thread_that_napped_is_woken_as_late_as_before() -> None:
    waiter = answer_wait.AdaptiveWait(SharedBlock(), "spin")
    before = answer_wait._set_slack(77_000)
    try:
        seen: list[int] = []
        waiter._block = Looked(lambda: seen.append(answer_wait._set_slack(answer_wait._NAP_SLACK_NS)))
        assert waiter._nap(1, sys.maxsize)
        assert seen == [answer_wait._NAP_SLACK_NS] * 3
        assert answer_wait._set_slack(before) == 77_000
    finally:
        answer_wait._set_slack(before)
