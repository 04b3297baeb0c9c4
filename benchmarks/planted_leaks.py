"""Functions that leak a known amount per round, and functions that only look as if they did.

Each is a small object that is called once per round, with all its state in itself, so that a worker gets a
new one. `truth` is what it leaks per round, in bytes; 0 for those that do not leak.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

KB, MB = 1000, 1_000_000
SEED = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A function, what it leaks per round, and what grows: bytes, descriptors or threads."""

    name: str
    function: Callable[[], None]
    truth: float
    what: str = "bytes"


class Native:
    """malloc without free; touched or not."""

    def __init__(self, size: int, touched: bool = True) -> None:
        self.size, self.touched = size, touched

    def __call__(self) -> None:
        """One round."""
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        address = libc.malloc(self.size)
        if self.touched:
            ctypes.memset(address, 1, self.size)


class Listed:
    """A list that is appended to."""

    def __init__(self, size: int, start: int = 0) -> None:
        self.size, self.start, self.round = size, start, 0
        self.kept: list[bytearray] = []

    def __call__(self) -> None:
        """One round."""
        self.round += 1
        if self.round > self.start:
            self.kept.append(bytearray(self.size))


class Crumbs:
    """Many small objects, none of them worth a word."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.kept: list[list[float]] = []

    def __call__(self) -> None:
        """One round."""
        self.kept.append([float(number) for number in range(self.count)])


class Mapped:
    """Memory that is mapped and written to, and not unmapped."""

    def __init__(self, size: int, touched: bool = True) -> None:
        self.size, self.touched = size, touched
        self.kept: list[mmap.mmap] = []

    def __call__(self) -> None:
        """One round."""
        block = mmap.mmap(-1, self.size)
        if self.touched:
            block.write(b"x" * self.size)
        self.kept.append(block)


class Descriptors:
    """One end of a pipe is closed, the other forgotten."""

    def __call__(self) -> None:
        """One round."""
        os.close(os.pipe()[1])


class Threads:
    """A thread that waits for ever."""

    def __call__(self) -> None:
        """One round."""
        threading.Thread(target=threading.Event().wait, daemon=True).start()


class Cache:
    """Fills and stops."""

    def __init__(self, entries: int, size: int) -> None:
        self.entries, self.size, self.round = entries, size, 0
        self.table: dict[int, bytearray] = {}

    def __call__(self) -> None:
        """One round."""
        self.round += 1
        self.table[self.round % self.entries] = bytearray(self.size)


class Sawtooth:
    """Gains in every round, and gives all of it back now and then."""

    def __init__(self, period: int, size: int) -> None:
        self.period, self.size = period, size
        self.kept: list[bytearray] = []

    def __call__(self) -> None:
        """One round."""
        self.kept.append(bytearray(self.size))
        if len(self.kept) >= self.period:
            self.kept.clear()


class SlowStart:
    """Grows ever more slowly towards a bound."""

    def __init__(self, rounds: float, most: int) -> None:
        self.rounds, self.most, self.round = rounds, most, 0
        self.kept = bytearray()

    def __call__(self) -> None:
        """One round."""
        self.round += 1
        self.kept = bytearray(int(self.most * (1 - math.exp(-self.round / self.rounds))))


class Noise:
    """Holds another random amount after each round."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.random = random.Random(SEED)
        self.kept = bytearray()

    def __call__(self) -> None:
        """One round."""
        self.kept = bytearray(self.random.randrange(self.most))


class Churn:
    """Pieces of all sizes come and go, and leave holes: fragmentation that levels off."""

    def __init__(self, pieces: int) -> None:
        self.random = random.Random(SEED)
        self.kept: list[bytearray] = [bytearray() for _ in range(pieces)]

    def __call__(self) -> None:
        """One round."""
        for _ in range(len(self.kept) // 4):
            place = self.random.randrange(len(self.kept))
            self.kept[place] = bytearray(int(2 ** self.random.uniform(4, 15)))


class Nothing:
    """Allocates, uses and lets go."""

    def __call__(self) -> None:
        """One round."""
        sum(bytearray(100_000))


def leakers() -> Iterator[Planted]:
    """What leaks."""
    for size in (KB, 10 * KB, 100 * KB, 10 * MB):
        word = f"{size // KB} KB" if size < MB else f"{size // MB} MB"
        yield Planted(name=f"native, {word}", function=Native(size), truth=size)
        yield Planted(name=f"python, {word}", function=Listed(size), truth=size)
        # A mapping is whole pages, and that is what is lost.
        pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        yield Planted(name=f"mapped, {word}", function=Mapped(size), truth=pages)
    yield Planted(name="native, 100 KB, never touched", function=Native(100 * KB, False), truth=100 * KB)
    yield Planted(name="mapped, 1 MB, never touched", function=Mapped(1 << 20, False), truth=1 << 20)
    # A float takes 24 bytes, which Python rounds up to 32, and 8 in the list.
    yield Planted(name="python, 500 floats", function=Crumbs(500), truth=500 * 40)
    yield Planted(name="python, 50 KB, from round 60 on", function=Listed(50 * KB, 60), truth=50 * KB)
    yield Planted(name="descriptors", function=Descriptors(), truth=1, what="descriptors")
    yield Planted(name="threads", function=Threads(), truth=1, what="threads")


def innocents() -> Iterator[Planted]:
    """What does not, whatever it looks like."""
    made: list[tuple[str, Any]] = [
        ("nothing", Nothing()),
        ("cache of 40 entries of 100 KB", Cache(40, 100 * KB)),
        ("cache of 128 entries of 10 KB", Cache(128, 10 * KB)),
        ("cache of 500 entries of 10 KB", Cache(500, 10 * KB)),
        ("cache of 20 entries of 10 MB", Cache(20, 10 * MB)),
        ("sawtooth of 7 rounds, 100 KB", Sawtooth(7, 100 * KB)),
        ("sawtooth of 25 rounds, 100 KB", Sawtooth(25, 100 * KB)),
        ("sawtooth of 60 rounds, 1 MB", Sawtooth(60, MB)),
        ("sawtooth of 250 rounds, 10 KB", Sawtooth(250, 10 * KB)),
        ("slow start over 30 rounds to 5 MB", SlowStart(30, 5 * MB)),
        ("slow start over 200 rounds to 5 MB", SlowStart(200, 5 * MB)),
        ("noise of 100 KB", Noise(100 * KB)),
        ("noise of 2 MB", Noise(2 * MB)),
        ("fragmentation of 400 pieces", Churn(400)),
        ("fragmentation of 4,000 pieces", Churn(4000)),
    ]
    yield from (Planted(name=name, function=function, truth=0) for name, function in made)
