"""Several threads at one interpreter are served one after the other, and none gets what is another's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import outlive
from tests.interpreter.dropin_models import MODELS

F4 = np.float32
THREADS = 8
ROUNDS = 60


def opened(name: str) -> outlive.Interpreter:
    interpreter = outlive.Interpreter(model_content=MODELS[name]())
    interpreter.allocate_tensors()
    return interpreter


def all_together(work: Callable[[int], list[Any]]) -> list[Any]:
    """What the threads found wrong."""
    wrong: list[Any] = []
    start = threading.Barrier(THREADS)

    def thread(number: int) -> None:
        start.wait()
        try:
            wrong.extend(work(number))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=thread, args=(number,)) for number in range(THREADS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return wrong


def round_trips(interpreter: outlive.Interpreter, inputs: Any, output: int, wanted: Any) -> list[Any]:
    """Set, invoke and get, again and again: what came back that was not this thread's own."""
    wrong = []
    for _ in range(ROUNDS):
        for index, value in inputs.items():
            interpreter.set_tensor(index, value)
        interpreter.invoke()
        found = interpreter.get_tensor(output)
        if not np.array_equal(found, wanted):
            wrong.append(found)
    return wrong


def test_fixed_tensors_are_not_mixed() -> None:
    interpreter = opened("added")

    def work(number: int) -> list[Any]:
        given = {0: np.full((2, 3), number, F4), 1: np.full((2, 3), 100 * number, F4)}
        return round_trips(interpreter, given, 2, np.full((2, 3), 101 * number, F4))

    assert all_together(work) == []


def test_scalars_and_dynamic_outputs_are_not_mixed() -> None:
    interpreter = opened("ranged")

    def work(number: int) -> list[Any]:
        given = {0: np.int32(0), 1: np.int32(number + 1), 2: np.int32(1)}
        return round_trips(interpreter, given, 3, np.arange(number + 1, dtype=np.int32))

    assert all_together(work) == []


def test_strings_are_not_mixed() -> None:
    interpreter = opened("texts")

    def work(number: int) -> list[Any]:
        words = np.array([b"%d-%d" % (number, place) for place in range(4)], dtype=object)
        return round_trips(interpreter, {0: words}, 2, words[[2, 0]])

    assert all_together(work) == []


def test_signatures_are_not_mixed() -> None:
    interpreter = opened("signed")
    clip = interpreter.get_signature_runner("clip")

    def work(number: int) -> list[Any]:
        given = np.full(number + 1, number, F4)
        found = [clip(given=given)["clipped"] for _ in range(ROUNDS)]
        return [one for one in found if not np.array_equal(one, given)]

    assert all_together(work) == []


@pytest.mark.parametrize("order", ["first", "second"])
def test_what_one_thread_had_stays_its_own(order: str) -> None:
    """The first thread's input and result are still there after a second one has come and gone."""
    interpreter = opened("added")
    one, two = np.full((2, 3), 1, F4), np.full((2, 3), 2, F4)
    interpreter.set_tensor(0, one)
    interpreter.set_tensor(1, one)
    interpreter.invoke()
    seen: list[Any] = []

    def other() -> None:
        interpreter.set_tensor(0, two)
        interpreter.invoke()
        seen.append(interpreter.get_tensor(2))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert np.array_equal(seen[0], one + two), "the other input is what the first thread had set"
    if order == "first":
        assert np.array_equal(interpreter.get_tensor(2), one + one)
    assert np.array_equal(interpreter.get_tensor(0), one)
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(2), one + one)


def test_a_thread_that_sets_nothing_runs_on_what_was_set() -> None:
    interpreter = opened("relu")
    interpreter.set_tensor(0, np.full((1, 4), 5, F4))
    seen: list[Any] = []

    def other() -> None:
        interpreter.invoke()
        seen.append(interpreter.get_tensor(1))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert np.array_equal(seen[0], np.full((1, 4), 5, F4))
    assert np.array_equal(interpreter.get_tensor(1), seen[0])
