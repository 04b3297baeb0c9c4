"""What is alive when: items by the operators they span, so that a planner need not look at all of them."""

from collections.abc import Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class IntervalIndex(Generic[Item]):
    """Items with a first and a last step, both included, in a tree of ranges; `work` counts the looks."""

    __slots__ = ("_covering", "_leaves", "_starting", "_steps", "work")

    def __init__(self, steps: int) -> None:
        """For steps from 0 on, up to this many."""
        self._steps = steps
        self._leaves = 1 << max(1, steps).bit_length()
        self._covering: dict[int, list[Item]] = {}  # by node of the tree
        self._starting: dict[int, list[Item]] = {}  # by first step
        self.work = 0

    def add(self, first: int, last: int, item: Item) -> None:
        """Remember an item."""
        self._starting.setdefault(first, []).append(item)
        low = self._leaves + first
        high = self._leaves + min(last, self._leaves - 1) + 1
        while low < high:
            if low & 1:
                self._covering.setdefault(low, []).append(item)
                low += 1
            if high & 1:
                high -= 1
                self._covering.setdefault(high, []).append(item)
            low, high = low >> 1, high >> 1

    def meeting(self, first: int, last: int, most: int | None = None) -> list[Item]:
        """All items that share a step with this range; with `most` the search ends when there are more."""
        found: list[Item] = []
        node = self._leaves + first
        while node:
            found += self._covering.get(node, ())
            node >>= 1
        for start in self._starts(first + 1, min(last, self._steps)):
            if most is not None and len(found) > most:
                break
            found += self._starting.get(start, ())
            self.work += 1
        self.work += len(found)
        return found

    def _starts(self, first: int, last: int) -> Iterable[int]:
        """Steps at which an item may start, by the shorter way."""
        if last - first < len(self._starting):
            return range(first, last + 1)
        return (start for start in self._starting if first <= start <= last)
