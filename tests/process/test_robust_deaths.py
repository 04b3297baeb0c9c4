"""Every way in which a model can take its process along ends in the right error, and leaves nothing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.meter import make_cgroup, stands_still
from outlive.platforms.posix.child import worker_cgroups
from tests.deaths import models, moments, scenes
from tests.deaths.moments import Clock
from tests.deaths.scenes import DEADLY, HEALTHY, TOO_BIG, open_healthy, play, result

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the nursery needs a system that can fork")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Each death is checked for what it leaves behind."""
    with scenes.nothing_left_behind():
        yield


def segfault() -> None:
    interpreter = outlive.Interpreter(DEADLY)
    interpreter.allocate_tensors()
    scenes.feed(interpreter)
    interpreter.invoke()


def abort() -> None:
    outlive.Interpreter(model_content=models.aborting()).allocate_tensors()


def divide() -> None:
    interpreter = outlive.Interpreter(model_content=models.dividing())
    interpreter.allocate_tensors()
    for row, value in zip(interpreter.get_input_details(), (models.LEAST, -1), strict=True):
        interpreter.set_tensor(row["index"], np.array([value]))
    interpreter.invoke()


def call(function: str, **limits: Any) -> None:
    """Have a function of the C library called in the worker, as if it registered a custom operator."""
    outlive.InterpreterWithCustomOps(custom_op_registerers=[function], model_path=HEALTHY, **limits)


def loop() -> None:
    interpreter = outlive.Interpreter(model_content=models.endless(), seconds=60)
    interpreter.allocate_tensors()
    scenes.feed(interpreter, 1)
    interpreter.invoke()


def signalled(number: int) -> None:
    """The healthy model, and a signal from outside between two calls."""
    interpreter = open_healthy()
    for _ in range(3):
        result(interpreter)
    os.kill(interpreter.pid, number)
    if number == signal.SIGSTOP:
        while not stands_still(interpreter.pid):
            time.sleep(0.001)
        scenes.set_deadline(interpreter, 0.3)  # which it cannot keep, however quick the machine is
    for _ in range(3):
        result(interpreter)


@pytest.mark.parametrize(
    ("die", "kind", "code", "signal_name", "stage", "ended_by"),
    [
        (segfault, outlive.ModelDied, "O109", "SIGSEGV", "invoke", ""),
        (abort, outlive.ModelDied, "Q102", "SIGABRT", "allocate", ""),
        (divide, outlive.ModelDied, "I309", "SIGFPE", "invoke", ""),
        (lambda: call("abort"), outlive.ModelDied, "D505", "SIGABRT", "load", ""),
        (lambda: call("_exit"), outlive.ModelDied, "D509", None, "load", ""),
        (lambda: call("exit"), outlive.ModelDied, "D509", None, "load", ""),
        (lambda: call("pause", seconds=300), outlive.LimitReached, "D503", "SIGABRT", "load", "deadline"),
        (loop, outlive.LimitReached, "D503", "SIGABRT", "invoke", "deadline"),
        (lambda: signalled(signal.SIGKILL), outlive.ModelDied, "D508", "SIGKILL", "idle", ""),
        (lambda: signalled(signal.SIGTERM), outlive.ModelDied, "D508", "SIGTERM", "idle", ""),
        (lambda: signalled(signal.SIGSTOP), outlive.LimitReached, "D503", "SIGKILL", "idle", "deadline"),
    ],
    ids=["segfault", "abort", "divide", "abort-at-load", "_exit", "exit", "pause", "loop", "kill", "term",
         "stop"],
)  # fmt: skip
def test_a_death_is_an_error(
    die: Callable[[], None],
    kind: type[Exception],
    code: str,
    signal_name: str | None,
    stage: str,
    ended_by: str,
    clock: Clock,
) -> None:
    if ended_by == "deadline":
        clock.advance_when(lambda: stage != "idle" and moments.a_worker_is_at(stage))
    with pytest.raises(RuntimeError) as caught:
        die()
    error: Any = caught.value
    assert type(error) is kind
    flight = error.flight
    assert (error.finding.code, flight.signal, flight.stage, flight.ended_by) == (
        code, signal_name, stage, ended_by)  # fmt: skip
    assert flight.died
    assert (flight.exit_code is None) == (signal_name is not None)
    assert scenes.wait_for_death({flight.pid}) == set()
    assert result(open_healthy()).shape  # the next one lives


def test_a_call_that_does_not_end_says_where_it_was(clock: Clock) -> None:
    clock.advance_when(lambda: moments.a_worker_is_at("invoke"))
    with pytest.raises(outlive.LimitReached) as caught:
        loop()
    flight = caught.value.flight
    assert "in invoke" in flight.fault_trace
    assert flight.op is not None
    assert (flight.op.subgraph, flight.op.type) in ((0, "WHILE"), (1, "EQUAL"), (2, "ADD")), flight.op


def test_a_deadline_is_kept(clock: Clock) -> None:
    clock.advance_when(lambda: moments.a_worker_is_at("invoke"))
    with pytest.raises(outlive.LimitReached):
        loop()


def test_the_memory_limit_is_an_error_and_not_the_end() -> None:
    with outlive.Interpreter(TOO_BIG, memory="100MB") as interpreter:
        with pytest.raises(outlive.LimitReached) as caught:
            scenes.run_whole(interpreter)
        flight = caught.value.flight
        assert (caught.value.finding.code, flight.ended_by) == ("D502", "memory")
        assert flight.planned["op"]["type"] == "CONV_2D"


def test_what_was_resized_is_planned_and_what_is_said_to_fit_does() -> None:
    with outlive.Interpreter(TOO_BIG, memory="100MB") as interpreter:
        interpreter.resize_tensor_input(0, [1, 1280, 1280, 3])
        with pytest.raises(outlive.LimitReached, match="needs about") as caught:
            scenes.run_whole(interpreter)
    planned = caught.value.flight.planned
    assert planned["needed_bytes"] == outlive.plan(TOO_BIG, inputs={"image": (1, 1280, 1280, 3)}).peak_bytes
    way = planned["ways"][-1]
    assert (way["what"], way["options"]) == ("run at 320x320", "--input image=1x320x320x3")
    smaller = outlive.plan(TOO_BIG, inputs={"image": (1, 320, 320, 3)})
    assert smaller.peak_bytes == way["needed_bytes"] < 100_000_000


def test_the_watchdog_sees_what_the_kernel_does_not_count() -> None:
    resource = pytest.importorskip("resource")
    interpreter = outlive.Interpreter(TOO_BIG, memory="100MB")
    # As in a sandbox whose RLIMIT_DATA counts nothing.
    resource.prlimit(interpreter.pid, resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with pytest.raises(outlive.LimitReached) as caught:
        scenes.run_whole(interpreter, 1000)
    flight = caught.value.flight
    assert (caught.value.finding.code, flight.ended_by, flight.signal) == ("D502", "memory", "SIGABRT")


IN_A_CGROUP = """
import resource
from outlive.meter import make_cgroup, read_oom_counters
from outlive.platforms.posix.meter.cgroups import MemoryCgroup
if {ends_as_a_whole}:  # version 1 cannot be told to
    MemoryCgroup.ends_as_a_whole = lambda self: True
cgroup = make_cgroup(270_000_000)
if cgroup is None or not cgroup.add(os.getpid()):
    say(refused=True)
    sys.exit()
say(before=cgroup.oom_kills(), path=str(cgroup.path))
ballast = os.urandom(1 << 20) * {ballast_mb}
with outlive.Interpreter(HEALTHY) as interpreter:
    interpreter.allocate_tensors()
    result(interpreter)
try:
    interpreter = outlive.Interpreter(TOO_BIG, memory={memory})
    interpreter.allocate_tensors()
    scenes.feed(interpreter)
    interpreter.invoke()
except outlive.RunError as error:
    flight = error.flight
    say(kind=type(error).__name__, code=error.finding.code, signal=flight.signal, oom_kills=flight.oom_kills)
say(after=cgroup.oom_kills(), alive=bool(result(open_healthy()).size))
"""


def in_a_cgroup(memory: str, ballast_mb: int, ends_as_a_whole: bool = False) -> dict[str, Any]:
    own = make_cgroup(10**9)
    if own is None:
        pytest.skip("needs a memory cgroup of its own, which root (or whoever it was handed to) can make")
    own.close()
    settings = {"memory": memory, "ballast_mb": ballast_mb, "ends_as_a_whole": ends_as_a_whole}
    facts = play(IN_A_CGROUP.format(**settings))
    assert "refused" not in facts
    os.rmdir(facts["path"])
    return facts


def test_the_system_kills_the_worker_and_not_the_parent() -> None:
    # The parent is the larger one, and would be taken first if the worker did not offer itself.
    facts = in_a_cgroup(memory="'8GB'", ballast_mb=150)
    assert (facts["kind"], facts["code"], facts["signal"]) == ("ModelDied", "D501", "SIGKILL")
    assert facts["oom_kills"][1] == facts["oom_kills"][0] + 1
    assert facts["alive"]


def test_the_default_limit_knows_what_the_container_has_left() -> None:
    # Where only the worker would be killed, nothing is kept back for the parent: `default_memory_bytes`.
    facts = in_a_cgroup(memory="None", ballast_mb=10, ends_as_a_whole=True)
    assert (facts["kind"], facts["code"]) == ("LimitReached", "D502")
    assert (facts["after"], facts["alive"]) == (facts["before"], True)


def test_a_kill_for_memory_long_ago_explains_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    now = [100.0]
    monkeypatch.setattr(worker_cgroups.time, "monotonic", lambda: now[0])
    counter = tmp_path / "memory.events"
    counter.write_text("oom 3\noom_kill 3\n")
    count = worker_cgroups.OomKillCounter(str(counter))
    assert count.around_now() == [3, 3]
    counter.write_text("oom 4\noom_kill 4\n")
    count.look()  # between the kill and the end, which can take a while
    assert count.around_now() == [3, 4]
    now[0] += worker_cgroups._RECENT_S
    assert count.around_now() == [4, 4]
    counter.unlink()
    assert worker_cgroups.OomKillCounter(str(counter)).around_now() is None


def test_a_call_after_a_death_says_so_again_at_once() -> None:
    interpreter = open_healthy()
    os.kill(interpreter.pid, signal.SIGKILL)
    flights = []
    for action in (interpreter.invoke, interpreter.invoke, interpreter.get_input_details):
        interpreter._tensors._details.clear()
        with pytest.raises(outlive.ModelDied) as caught:
            action()
        flights.append(caught.value.flight.pid)
    assert len({*flights}) == 1


def test_a_call_after_close_says_that_it_is_closed() -> None:
    interpreter = open_healthy()
    result(interpreter)
    interpreter.close()
    interpreter.close()
    interpreter.kill()
    with pytest.raises((RuntimeError, ValueError), match="closed"):
        interpreter.invoke()
    for action in (interpreter.reset_all_variables, interpreter._session.worker.invoke):
        with pytest.raises((RuntimeError, ValueError), match="closed"):
            action()


@pytest.mark.parametrize("on_death", ["raise", "restart"])
def test_after_a_death_the_worker_is_replaced_only_if_wanted(on_death: str) -> None:
    interpreter = open_healthy(on_death=on_death)
    expected = result(interpreter)
    os.kill(interpreter.pid, signal.SIGKILL)
    with pytest.raises(outlive.ModelDied):
        scenes.run_often(interpreter, 2)
    if on_death == "raise":
        with pytest.raises(outlive.ModelDied):
            interpreter.invoke()
        return
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]), expected)


def test_an_interrupt_ends_a_long_invoke_and_its_worker() -> None:
    interpreter = outlive.Interpreter(model_content=models.endless())
    interpreter.allocate_tensors()
    scenes.feed(interpreter, 1)
    pid = interpreter.pid
    moments.when(lambda: moments.a_worker_is_at("invoke"), lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        interpreter.invoke()
    assert scenes.wait_for_death({pid}) == set()


def test_a_program_that_dies_of_broken_pipes_does_not_die_of_ours() -> None:
    facts = play("""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    interpreter = open_healthy()
    result(interpreter)
    time.sleep(0.01)
    nursery = scenes.children() - {interpreter.pid}
    for pid in (interpreter.pid, *nursery):
        os.kill(pid, signal.SIGKILL)
        scenes.wait_for_death({pid})
        try:
            result(interpreter)
        except outlive.ModelDied as error:
            say(code=error.finding.code)
        interpreter = open_healthy()
    say(size=int(result(interpreter).size))
    """)
    assert facts["size"] > 0
    assert facts["code"] in ("D508", "D510")


def test_what_a_runtime_prints_is_bounded() -> None:
    interpreter = open_healthy()
    errors = f"/proc/{interpreter.pid}/fd/2"
    with open(errors, "ab") as file:
        file.write(b"x" * (3 << 20) + b"the last words")
    interpreter.get_tensor_details()
    assert os.stat(errors).st_size < 1 << 20
    assert interpreter.story().stderr_tail.endswith("the last words")


def test_a_death_does_not_change_what_the_next_model_seems_to_take() -> None:
    """Looking at a stack leaves free memory in the maker of workers, which they would fill first."""
    before = outlive.run(HEALTHY).peak_bytes
    assert outlive.run(DEADLY).died
    after = outlive.run(HEALTHY).peak_bytes
    assert before is not None
    assert after == pytest.approx(before, rel=0.25)
