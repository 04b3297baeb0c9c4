"""Functions to be repeated, as a user's script has them; each worker imports this file anew."""

from __future__ import annotations

import collections
import ctypes
import functools
import math
import mmap
import os
import random
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

kept: list[Any] = []
table: dict[int, Any] = {}
source = random.Random(15)
rounds = [0]
forever = threading.Event()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]


def native_100_kb() -> None:
    ctypes.memset(libc.malloc(100_000), 1, 100_000)


def native_untouched() -> None:
    kept.append(libc.malloc(100_000))  # the address is kept: it owns nothing


def python_10_kb() -> None:
    kept.append(bytearray(10_000))


def python_10_mb() -> None:
    kept.append(np.ones(10_000_000, np.uint8))


def mapped_100_kb() -> None:
    block = mmap.mmap(-1, 100_000)
    block.write(b"x" * 100_000)
    kept.append(block)


def descriptor() -> None:
    kept.append(open(os.devnull))  # noqa: SIM115


def thread() -> None:
    threading.Thread(target=forever.wait, daemon=True, name="pump").start()


def nothing() -> None:
    print("a round")
    np.zeros(10_000).sum()


def cache_100() -> None:
    rounds[0] += 1
    table[rounds[0] % 100] = bytearray(20_000)


def sawtooth() -> None:
    kept.append(bytearray(100_000))
    if len(kept) == 20:
        kept.clear()


def slow_start() -> None:
    rounds[0] += 1
    kept[:] = [bytearray(int(1_000_000 * (1 - math.exp(-rounds[0] / 20))))]


def noise() -> None:
    kept[:] = [bytearray(source.randrange(200_000))]


class Log:
    """Who keeps what, in as many ways as there are."""

    seen: ClassVar[collections.deque[Any]] = collections.deque()

    def __init__(self) -> None:
        self.losses: list[Any] = []


log = Log()


def kept_by_attribute() -> None:
    log.losses.append(np.zeros(100))


def kept_by_class() -> None:
    Log.seen.append(object())


def kept_by_dictionary() -> None:
    table[len(table)] = bytes(1000)


def kept_by_default(history: list[str] = []) -> None:  # noqa: B006
    history.append("x" * 100)


@functools.cache
def remembered(number: int) -> bytes:
    return bytes(5000 + number)


def kept_by_cache() -> None:
    rounds[0] += 1
    remembered(rounds[0])


def _make() -> Any:
    inner: list[Any] = []

    def step() -> None:
        inner.append(np.ones(100))

    return step


kept_by_closure = _make()


def _rows() -> Any:
    rows: list[Any] = []
    while True:
        rows.append(np.zeros(10))
        yield


_stream = _rows()


def kept_by_generator() -> None:
    next(_stream)


def linked() -> None:
    table[0] = {"before": table.get(0), "data": [1.5]}


def dies() -> None:
    rounds[0] += 1
    kept.append(bytearray(50_000))
    if rounds[0] == 40:
        ctypes.string_at(0)


def hangs() -> None:
    rounds[0] += 1
    if rounds[0] == 30:
        Path(os.environ["HANGS_AT"]).touch()
        time.sleep(600)


def raises_later() -> None:
    rounds[0] += 1
    if rounds[0] == 30:
        raise OSError("nothing left")


def raises_at_once() -> None:
    raise KeyError("first")


def generator() -> Any:
    kept.append(bytearray(30_000))
    yield


async def coroutine() -> None:
    kept.append(bytearray(30_000))
