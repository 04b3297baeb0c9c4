"""A call that something else ends: kill() of another thread, a fork, whatever a signal handler raises."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest

import outlive
from outlive import threads as apart
from tests.deaths import models, moments, scenes
from tests.deaths.restrictions import linux_only
from tests.deaths.scenes import open_healthy, result

pytestmark = linux_only


def running() -> tuple[outlive.Interpreter, threading.Thread, list[Any]]:
    """An interpreter inside a call that never ends, the thread that made the call, and how it ends."""
    interpreter = outlive.Interpreter(model_content=models.endless())
    interpreter.allocate_tensors()
    ends: list[Any] = []
    begun = threading.Event()

    def call() -> None:
        begun.set()
        try:
            interpreter.invoke()
        except BaseException as error:
            ends.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    begun.wait()
    while not moments.a_worker_is_at("invoke"):
        time.sleep(0.01)
    return interpreter, thread, ends


def test_kill_does_not_wait_for_a_call_of_another_thread() -> None:
    interpreter, thread, ends = running()
    pid = interpreter.pid
    interpreter.kill()
    thread.join(300)
    assert not thread.is_alive()
    assert [type(error) for error in ends] == [RuntimeError]
    assert scenes.wait_for_death({pid}) == set()
    with pytest.raises(RuntimeError, match="closed"):
        interpreter.invoke()


def test_a_child_forked_during_a_call_is_not_held_up() -> None:
    interpreter, thread, _ = running()
    child = os.fork()
    if child == 0:
        signal.alarm(500)  # a child that hangs ends with a signal
        code = 1
        try:
            index = interpreter.get_input_details()[0]["index"]
            code = 0 if index == 0 and result(open_healthy()).size else 2
            interpreter.kill()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert thread.is_alive()  # the call of the parent goes on
    interpreter.kill()
    thread.join(300)


def test_what_a_signal_handler_raises_costs_the_worker_only() -> None:
    def late(number: int, frame: object) -> None:
        raise TimeoutError("too late")

    interpreter = outlive.Interpreter(model_content=models.endless())
    interpreter.allocate_tensors()
    pid = interpreter.pid
    before = signal.signal(signal.SIGALRM, late)
    moments.when(lambda: moments.a_worker_is_at("invoke"), lambda: os.kill(os.getpid(), signal.SIGALRM))
    try:
        with pytest.raises(TimeoutError):
            interpreter.invoke()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert scenes.wait_for_death({pid}) == set()
    assert interpreter.get_input_details()[0]["index"] == 0  # a new worker answers
    assert interpreter.pid != pid


def test_a_thread_that_has_no_memory_to_begin_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    # As CPython does: the new thread fails before its first line, and drops what it was given.
    monkeypatch.setattr(apart._thread, "start_new_thread", lambda _function, _arguments: 0)
    with pytest.raises(MemoryError):
        apart.run_uninterrupted(lambda: None)
