"""Memory that a guarded function shares counts against its limit; what its caller has too does not."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable
from multiprocessing import shared_memory
from typing import Any

import numpy as np
import pytest

import outlive
from tests.deaths.restrictions import linux_only

pytestmark = linux_only
LIMIT, FAR_MORE = 60_000_000, 250_000_000
_PAUSE_S = 0.3  # the watchdog looks several times


def filled_mapping() -> None:
    block = os.memfd_create("mine")
    os.ftruncate(block, FAR_MORE)
    memory = mmap.mmap(block, FAR_MORE)
    os.close(block)
    for place in range(0, FAR_MORE, mmap.PAGESIZE):
        memory[place] = 1
    time.sleep(1000)


def written_file() -> None:
    block = os.memfd_create("mine")
    for _ in range(FAR_MORE // 1_000_000):
        os.write(block, b"x" * 1_000_000)
    time.sleep(1000)


def under_our_name() -> None:
    block = os.memfd_create("outlive-guard")
    for _ in range(FAR_MORE // 1_000_000):
        os.write(block, b"x" * 1_000_000)
    time.sleep(1000)


def shared_with_nobody() -> None:
    memory = mmap.mmap(-1, FAR_MORE)
    for place in range(0, FAR_MORE, mmap.PAGESIZE):
        memory[place] = 1
    time.sleep(1000)


@pytest.mark.parametrize("take", [filled_mapping, written_file, under_our_name, shared_with_nobody])
def test_shared_memory_counts(take: Callable[[], None]) -> None:
    with pytest.raises(outlive.LimitReached) as caught:
        outlive.guard(take, memory=LIMIT)()
    assert caught.value.finding.code == "D502"
    assert caught.value.flight is not None
    assert caught.value.flight.ended_by == "memory"


def test_arguments_and_results_do_not_count() -> None:
    given = np.ones(FAR_MORE // 8)

    def look(numbers: Any) -> Any:
        total = numbers.sum()
        time.sleep(_PAUSE_S)
        return total, np.ones(
            LIMIT // 10
        )  # of eight bytes: four fifths of the limit, once here and once sent

    total, made = outlive.guard(look, memory=LIMIT)(given)
    assert total == len(given)
    assert len(made) == LIMIT // 10


def test_what_the_caller_shares_itself_does_not_count() -> None:
    theirs = shared_memory.SharedMemory(create=True, size=FAR_MORE)
    try:
        assert theirs.buf is not None
        np.frombuffer(theirs.buf, np.uint8)[:] = 1

        def look(name: str) -> int:
            block = os.open("/dev/shm/" + name, os.O_RDWR)
            memory = mmap.mmap(block, FAR_MORE)
            total = sum(memory[place] for place in range(0, FAR_MORE, mmap.PAGESIZE))
            time.sleep(_PAUSE_S)
            return total

        assert outlive.guard(look, memory=LIMIT)(theirs.name) == -(-FAR_MORE // mmap.PAGESIZE)
    finally:
        theirs.close()
        theirs.unlink()
