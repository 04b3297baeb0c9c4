"""Dividing what is looked at into turns, each of which fits the memory that was granted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(slots=True)
class Turn(Generic[Row]):
    """Pairs that are looked at in one go through the samples."""

    rows: list[Row]
    size_bytes: int = 0


def divide(rows: Iterable[Row], size_of: Callable[[Row], int], budget_bytes: int) -> list[Turn[Row]]:
    """The rows in their order, in as few turns as fit; at least one, and one row at least in each."""
    turns: list[Turn[Row]] = [Turn(rows=[])]
    for row in rows:
        size_bytes = size_of(row)
        if turns[-1].rows and turns[-1].size_bytes + size_bytes > budget_bytes:
            turns.append(Turn(rows=[]))
        turns[-1].rows.append(row)
        turns[-1].size_bytes += size_bytes
    return turns
