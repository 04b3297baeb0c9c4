"""Nothing grows: not the parent's memory, not its descriptors, processes or shared blocks."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest

import outlive
from outlive.process import factories
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only
from tests.deaths.scenes import open_healthy, result
from tests.repetition import repeats, rounds

pytestmark = linux_only
MOST_BYTES = 1_000_000


def invoke_often() -> Callable[[], None]:
    interpreter = open_healthy()

    def run() -> None:
        scenes.feed(interpreter)
        for _ in range(rounds(600, soak=30_000)):
            interpreter.invoke()

    return run


def open_and_close() -> None:
    for _ in range(rounds(30, soak=300)):
        with open_healthy() as interpreter:
            result(interpreter)


def open_and_drop() -> None:
    for _ in range(rounds(20, soak=200)):
        result(open_healthy())


def die_and_restart() -> Callable[[], None]:
    interpreter = open_healthy(on_death="restart")

    def run() -> None:
        for _ in range(rounds(15, soak=200)):
            result(interpreter)
            os.kill(interpreter.pid, signal.SIGKILL)
            with pytest.raises(outlive.ModelDied):
                scenes.run_often(interpreter, 3)

    return run


def allocate_often() -> Callable[[], None]:
    interpreter = open_healthy()
    [row] = interpreter.get_input_details()

    def run() -> None:
        for batch in [1, 2, 3] * rounds(30, soak=300):
            interpreter.resize_tensor_input(row["index"], [batch, *row["shape"][1:]])
            interpreter.allocate_tensors()
            result(interpreter)

    return run


def segfault_often() -> None:
    for _ in range(rounds(6, soak=60)):
        interpreter = outlive.Interpreter(scenes.DEADLY)
        with pytest.raises(outlive.ModelDied):
            scenes.run_whole(interpreter)


@repeats
@pytest.mark.parametrize(
    "prepare",
    [
        invoke_often,
        lambda: open_and_close,
        lambda: open_and_drop,
        die_and_restart,
        allocate_often,
        lambda: segfault_often,
    ],
    ids=["invoke", "open-close", "open-drop", "die-restart", "allocate", "segfault"],
)
def test_nothing_grows(prepare: Callable[[], Callable[[], None]]) -> None:
    run = prepare()
    run()  # what is made once is made now
    before, growths = scenes.holdings(), []
    for _ in range(3):  # what leaks grows each time; a heap that other tests have filled grows now and then
        bytes_before = scenes.private_bytes()
        run()
        after = scenes.holdings()
        growths.append(scenes.private_bytes() - bytes_before)
        assert [len(after[0]), after[1], after[2]] == [len(before[0]), before[1], before[2]]
        if growths[-1] < MOST_BYTES:
            break
    assert min(growths) < MOST_BYTES


def test_the_nursery_does_not_grow() -> None:
    open_and_drop()
    [nursery] = scenes.children()
    before = scenes.private_bytes(nursery)
    open_and_close()
    assert scenes.private_bytes(nursery) - before < MOST_BYTES


def test_the_garbage_collector_may_end_a_worker_at_any_moment() -> None:
    """An interpreter in a cycle is ended wherever its thread happens to be, also amid a message."""
    interpreter = open_healthy()
    [nursery] = [one for one in factories._factories.values() if isinstance(one, factories.Nursery)]

    def collect() -> None:
        with nursery._io, factories.starting:
            interpreter.kill()

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    thread.join(300)
    assert not thread.is_alive()
    assert scenes.wait_for_death({interpreter.pid}) == set()
