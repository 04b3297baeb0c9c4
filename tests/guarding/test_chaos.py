"""All at once: threads, sizes around every border, prints, logs, streams, iterators, exceptions."""

from __future__ import annotations

import contextlib
import io
import logging
import random
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

import outlive
from tests.deaths.restrictions import linux_only

pytestmark = linux_only

CALLS, THREADS = 50, 3
LETTERS, NUMBERS = (0, 1, 10, 5_000, 20_000), (0, 1, 100, 2_000, 20_000, 300_000)
WAYS = ("value", "array", "stream", "raise")


def work(way: str, letters: int, log: bool, array: Any, items: Any) -> Any:
    """Do what is asked for."""
    if letters:
        print("p" * letters)
    if log:
        logging.getLogger("chaos").warning("said")
    total = sum(items) if items is not None else 0
    if way == "array":
        return array
    if way == "stream":
        return (array[: number * 1000] for number in range(4))
    if way == "raise":
        raise KeyError(letters)
    return float(array.sum()) + total


class Counter(logging.Handler):
    """Counts records."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


class Round:
    """The calls of one thread, and what they should have led to."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.letters = self.logs = 0
        self.wrong: list[str] = []

    def run(self) -> None:
        guarded = outlive.guard(work, seconds=120)
        for _ in range(CALLS):
            try:
                self._call(guarded)
            except BaseException as error:
                self.wrong.append(repr(error))

    def _call(self, guarded: Any) -> None:
        draw = self._draw
        way, letters, log = draw.choice(WAYS), draw.choice(LETTERS), draw.random() < 0.3
        array = np.full(draw.choice(NUMBERS), float(draw.randrange(5)))
        items: Iterator[int] | None = iter(range(4)) if draw.random() < 0.3 else None
        expected = float(array.sum()) + (6 if items is not None else 0)
        self.letters += letters + (letters > 0)
        self.logs += log
        try:
            result = guarded(way, letters, log, array, items)
        except KeyError as error:
            assert (way, error.args) == ("raise", (letters,))
            return
        self._check(way, result, array, expected)

    def _check(self, way: str, result: Any, array: Any, expected: float) -> None:
        if way == "value":
            assert result == expected
        elif way == "array":
            assert np.array_equal(result, array)
        else:
            for number, part in enumerate(result):
                assert np.array_equal(part, array[: number * 1000])
                if self._draw.random() < 0.2:
                    result.close()


def test_nothing_is_lost_mixed_up_or_stuck() -> None:
    counter, logger = Counter(), logging.getLogger("chaos")
    logger.addHandler(counter)
    rounds = [Round(seed) for seed in range(THREADS)]
    threads = [threading.Thread(target=one.run) for one in rounds]
    with contextlib.redirect_stdout(io.StringIO()) as heard:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    logger.removeHandler(counter)
    assert [one.wrong for one in rounds] == [[]] * THREADS
    assert len(heard.getvalue()) == sum(one.letters for one in rounds)
    assert counter.count == sum(one.logs for one in rounds)
