"""Generators across the border: results one at a time, and iterators as arguments, asked from the caller."""

from __future__ import annotations

import gc
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.guarding.guarded_call import GuardedStream
from tests.deaths.moments import Clock
from tests.deaths.restrictions import linux_only
from tests.guarding.scenes import gone

pytestmark = linux_only


def count_to(path: str, end: int) -> Iterator[int]:
    """Numbers, and a note of each that was made; `closed` at the end."""
    try:
        for number in range(end):
            with open(path, "a") as file:
                file.write(f"{number} ")
            yield number
    finally:
        with open(path, "a") as file:
            file.write("closed")


def test_items_are_made_when_they_are_asked_for(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    stream = outlive.guard(count_to)(str(notes), 5)
    assert isinstance(stream, GuardedStream)
    assert not notes.exists()
    assert [next(stream), next(stream)] == [0, 1]
    assert notes.read_text() == "0 1 "
    assert list(stream) == [2, 3, 4]
    assert notes.read_text() == "0 1 2 3 4 closed"
    assert list(stream) == []


@pytest.mark.parametrize("way", ["close", "with", "forget"])
def test_a_stream_that_is_left_early_ends_its_generator(tmp_path: Path, way: str) -> None:
    notes = tmp_path / "notes"
    stream = outlive.guard(count_to)(str(notes), 5)
    next(stream)
    if way == "close":
        stream.close()
    elif way == "with":
        with stream:
            pass
    else:
        del stream
        gc.collect()
    assert notes.read_text() == "0 closed"
    assert outlive.guard(abs)(-1) == 1


def test_what_a_generator_returns_and_raises() -> None:
    def some() -> Any:
        yield 1
        return "all"

    def fails() -> Any:
        yield 1
        raise KeyError("second")

    stream = outlive.guard(some)()
    next(stream)
    with pytest.raises(StopIteration) as caught:
        next(stream)
    assert caught.value.value == "all"
    stream = outlive.guard(fails)()
    assert next(stream) == 1
    with pytest.raises(KeyError, match="second"):
        next(stream)
    assert list(stream) == []


def test_a_generator_that_dies() -> None:
    def dies() -> Any:
        yield os.getpid()
        os.abort()

    stream = outlive.guard(dies)()
    pid = next(stream)
    with pytest.raises(outlive.ModelDied) as caught:
        next(stream)
    assert caught.value.flight.pid == pid
    assert gone(pid)
    assert list(stream) == []


def test_a_generator_that_hangs(clock: Clock, tmp_path: Path) -> None:
    running = tmp_path / "running"

    def hangs() -> Any:
        import time

        yield 1
        running.touch()
        time.sleep(1000)

    stream = outlive.guard(hangs, seconds=300)()
    assert next(stream) == 1
    clock.advance_when(running.exists)
    with pytest.raises(outlive.LimitReached):
        next(stream)


def test_other_iterators_stream_too_and_other_calls_go_on_meanwhile() -> None:
    endless = outlive.guard(itertools.count)(5)
    pairs = outlive.guard(lambda: map(str, range(3)))()
    assert [next(endless), next(pairs), next(endless), next(pairs)] == [5, "0", 6, "1"]
    assert outlive.guard(abs)(-1) == 1
    endless.close()
    assert list(pairs) == ["2"]


def test_streamed_arrays() -> None:
    def arrays() -> Any:
        for number in range(6):
            yield np.full(50_000, number)

    kept = list(outlive.guard(arrays)())
    assert [int(array.sum()) for array in kept] == [50_000 * number for number in range(6)]


def test_arguments_that_are_iterators_are_asked_one_by_one() -> None:
    made: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            made.append(number)
            yield number

    def first_of(values: Any, count: int) -> list[int]:
        return [next(values) for _ in range(count)]

    assert outlive.guard(first_of)(numbers(), 3) == [0, 1, 2]
    assert made == [0, 1, 2]
    assert outlive.guard(sum)(number for number in range(10)) == 45
    assert outlive.guard(lambda *, values: list(values))(values=zip("ab", "cd", strict=True)) == [
        ("a", "c"),
        ("b", "d"),
    ]


def test_iterators_inside_arguments_and_of_arrays() -> None:
    def total(batches: Any) -> float:
        return float(sum(batch["x"].sum() for batch in batches["train"]))

    batches = ({"x": np.ones(50_000) * number} for number in range(8))
    assert outlive.guard(total)({"train": batches}) == 50_000 * 28


def test_an_iterator_that_raises_does_so_in_the_function() -> None:
    def fails() -> Iterator[int]:
        yield 1
        raise KeyError("no more")

    def read(values: Any) -> str:
        try:
            return str(list(values))
        except KeyError as error:
            return f"caught {error}"

    assert outlive.guard(read)(fails()) == "caught 'no more'"
    with pytest.raises(KeyError, match="no more"):
        outlive.guard(list)(fails())


def test_an_iterator_is_good_for_its_own_call_only() -> None:
    def keep(values: Any) -> int:
        import builtins

        builtins.kept_iterator = values  # type: ignore[attr-defined]
        return int(next(values))

    def use() -> int:
        import builtins

        return int(next(builtins.kept_iterator))  # type: ignore[attr-defined]

    assert outlive.guard(keep)(iter([1, 2])) == 1
    with pytest.raises(RuntimeError, match="a guarded call that has ended"):
        outlive.guard(use)()


def test_a_stream_fed_by_a_stream() -> None:
    def squares(values: Any) -> Any:
        for value in values:
            yield value * value

    guarded = outlive.guard(squares)
    assert list(guarded(guarded(range(4)))) == [0, 1, 16, 81]


def test_the_callers_time_is_not_the_functions(clock: Clock) -> None:
    def slowly() -> Iterator[int]:
        for number in range(3):
            clock.advance(1000)
            yield number

    assert outlive.guard(sum, seconds=300)(slowly()) == 3


def test_an_iterator_can_be_asked_from_another_thread_of_the_function() -> None:
    def in_threads(values: Any) -> int:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(4) as pool:
            return sum(pool.map(lambda _: next(values), range(20)))

    assert outlive.guard(in_threads)(iter(range(20))) == 190
