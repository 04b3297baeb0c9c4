"""Large arrays: told of before they are copied, in large pages, and never seen half copied."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.guarding.pool import pool
from outlive.platforms.posix.child import segment_memory
from outlive.process.child.guard import pickling, segments
from tests.deaths.restrictions import linux_only

pytestmark = linux_only
COUNT = 400_000  # of eight bytes: more than a large page


@pytest.fixture
def slow_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of the caller's that come long after the frame."""
    real = segments.Outbox.fill

    def fill(self: Any, placed: Any, buffers: Any) -> None:
        time.sleep(0.2)
        real(self, placed, buffers)

    monkeypatch.setattr(segments.Outbox, "fill", fill)


class Summed:
    """Looks at its numbers as soon as it is read."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def __reduce__(self) -> Any:
        return _summed, (self.numbers,)


def _summed(numbers: Any) -> float:
    return float(numbers.sum())


def test_an_argument_is_whole_before_the_function_sees_it(slow_copies: None) -> None:
    total = outlive.guard(lambda numbers, factor, *, more: float((numbers * factor + more).sum()))
    for value in (1.0, 2.0, 3.0):
        numbers = np.full(COUNT, value)
        assert total(numbers, 2, more=numbers) == COUNT * value * 3


def test_what_looks_at_an_array_while_it_is_read_finds_it_whole(slow_copies: None) -> None:
    first = outlive.guard(lambda value: value)
    for value in (1.0, 2.0):
        assert first(Summed(np.full(COUNT, value))) == COUNT * value
        assert outlive.guard(lambda pair: pair[0])((_summed(np.full(4, value)), 5)) == 4 * value


def test_a_result_is_whole_before_the_caller_sees_it() -> None:
    def delay() -> None:
        blocks = sys.modules["outlive_child.guard.segments"]
        real = blocks.Outbox.fill

        def fill(self: Any, placed: Any, buffers: Any) -> None:
            time.sleep(0.2)
            real(self, placed, buffers)

        blocks.Outbox.fill = fill

    pool.close()
    outlive.guard(delay)()
    made = outlive.guard(lambda value: np.full(COUNT, value))
    for value in (1.0, 2.0, 3.0):
        assert made(value).sum() == COUNT * value
    pool.close()


@pytest.mark.parametrize(("end", "kind"), [("die", "ModelDied"), ("hang", "LimitReached")])
def test_a_worker_that_ends_while_it_copies_a_result(end: str, kind: str) -> None:
    def spoil(end: str) -> None:
        def fill(self: Any, placed: Any, buffers: Any) -> None:
            if end == "die":
                os.abort()
            time.sleep(1000)

        sys.modules["outlive_child.guard.segments"].Outbox.fill = fill

    pool.close()
    outlive.guard(spoil)(end)
    with pytest.raises(outlive.OutliveError) as caught:
        outlive.guard(np.ones, seconds=3 if end == "hang" else 300)(COUNT)
    assert type(caught.value).__name__ == kind
    assert outlive.guard(np.ones)(COUNT).sum() == COUNT


def test_many_sizes_in_turn_stay_right() -> None:
    double = outlive.guard(lambda numbers: numbers * 2)
    kept = []
    for number, count in enumerate([10, 70_000, COUNT, 3 * COUNT, COUNT, 5, COUNT, 2 * COUNT] * 3):
        result = double(np.full(count, float(number)))
        kept.append((number, count, result))
    assert all(len(result) == count and (result == 2.0 * number).all() for number, count, result in kept)


def test_only_plain_arrays_are_told_of_early() -> None:
    class Own(np.ndarray[Any, Any]):
        pass

    assert pickling.are_arrays((1, "a", None, np.ones(3)))
    assert not pickling.are_arrays((np.ones(3).view(Own),))
    assert not pickling.are_arrays(([np.ones(3)],))
    assert not pickling.are_arrays((Summed(np.ones(3)),))


def large_pages(address: int) -> int:
    """How much of the mapping at an address lies in large pages, in kB."""
    found = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split()[0] and not line.startswith(("Vm", "Shmem")):
            start, _, end = line.split()[0].partition("-")
            found = int(start, 16) <= address < int(end, 16)
        elif found and line.startswith("ShmemPmdMapped"):
            return int(line.split()[1])
    return 0


def test_a_segment_is_mapped_where_large_pages_can_be_and_goes_with_its_last_view() -> None:
    size = 2 * segment_memory.LARGE_BYTES
    descriptor = segment_memory.new_segment(size)
    try:
        mapping = segment_memory.map_segment(descriptor, size)
        with pytest.raises(ValueError, match="shorter"):
            segment_memory.map_segment(descriptor, 2 * size)
    finally:
        os.close(descriptor)
    lease = (segments.ctypes.c_ubyte * size).from_buffer(mapping, 0)
    address = segments.ctypes.addressof(lease)
    assert address % segment_memory.LARGE_BYTES == 0
    segment_memory.bytes_of(mapping)[:] = b"x" * size
    segment_memory.use_large_pages(mapping)
    assert large_pages(address) in (0, size // 1024)  # systems before Linux 6.1 have none
    del mapping
    assert bytes(lease[size - 2 :]) == b"xx"
    del lease
    assert f"{address:x}-" not in Path("/proc/self/maps").read_text()
