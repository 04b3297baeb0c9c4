"""Where both sides share a core, the one that waits gives it to the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from outlive.process.posix import answer_wait
from outlive.process.posix.shared_block import SharedBlock
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
import gc, json, os, subprocess, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
import numpy as np
import outlive
from outlive.process.worker import Worker
from outlive.process.posix.answer_wait import wait_mode

def asleep(pid):
    lines = open(f"/proc/{pid}/status").read().splitlines()
    return int([line.split()[1] for line in lines if line.startswith("voluntary")][0])

busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(int(sys.argv[1]))]
try:
    with outlive.Interpreter(model_content=sys.stdin.buffer.read()) as interpreter:
        interpreter.allocate_tensors()
        row, output = interpreter.get_input_details()[0], interpreter.get_output_details()[0]["index"]
        worker, = [one for one in gc.get_objects() if isinstance(one, Worker)]
        answers, patient, slept, before = set(), False, [], asleep(interpreter.pid)
        for number in range(20_000):
            if number >= 600 and (patient or not busy):
                break  # a neighbour that gets no core itself is not in the way yet
            interpreter.set_tensor(row["index"], np.full(row["shape"], number % 3, row["dtype"]))
            interpreter.invoke()
            answers.add((number % 3, interpreter.get_tensor(output).tobytes().hex()))
            patient = patient or worker._waiting.patience > 0
            if number % 10 == 9:
                now = asleep(interpreter.pid)
                slept.append(now - before)
                before = now
finally:
    for one in busy:
        one.kill()
        one.wait()
print(json.dumps({"way": wait_mode(), "answers": len(answers), "patient": patient, "slept": min(slept)}))
"""


def _run(busy: int) -> dict[str, object]:
    command = [sys.executable, "-c", _PROGRAM, str(busy)]
    model = unary("FLOOR", "FLOAT32", [1, 16])
    done = subprocess.run(command, input=model, capture_output=True, timeout=100, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_calls_cross_without_sleeping() -> None:
    found = _run(busy=0)
    assert (found["way"], found["answers"]) == ("yield", 3)
    # Asleep at each call, the worker would be woken ten times in ten calls; others may disturb some of them.
    assert int(str(found["slept"])) < 5


def test_a_busy_neighbour_is_noticed() -> None:
    found = _run(busy=1)
    assert found["answers"] == 3
    assert found["patient"]


@pytest.mark.parametrize(
    ("cores", "machine", "way"),
    [(1, "aarch64", "yield"), (1, "x86_64", "yield"), (4, "x86_64", "spin"), (4, "aarch64", "")],
)
def test_the_way_to_wait(monkeypatch: pytest.MonkeyPatch, cores: int, machine: str, way: str) -> None:
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
