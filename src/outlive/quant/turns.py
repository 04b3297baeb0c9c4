"""Dividing what is looked at into turns, each of which fits the memory that was granted.

What is counted are values: those of the caller, and those in the memory it shares with its workers, at the
moment when most of them are there. Not counted are the models themselves and the workers' own arenas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from outlive.units import format_bytes

Row = TypeVar("Row")
USUAL_BYTES = 512_000_000


class BudgetTooSmall(ValueError):
    """The memory granted does not hold the values of a single operator; `least_bytes` would."""

    def __init__(self, budget_bytes: int, least_bytes: int) -> None:
        """Say what was granted and what is needed."""
        self.budget_bytes, self.least_bytes = budget_bytes, least_bytes
        # Rounded up, so that what is told is enough.
        told = f"{-(-least_bytes // 1000)}KB" if least_bytes < 10**7 else f"{-(-least_bytes // 10**6)}MB"
        super().__init__(
            f"the values of a single operator take {format_bytes(least_bytes)}, and "
            f"{format_bytes(budget_bytes)} were granted: memory {told} is the least that works"
        )


@dataclass(slots=True)
class Turn(Generic[Row]):
    """Pairs that are looked at in one go through the samples."""

    rows: list[Row]
    size_bytes: int = 0


def divide_usual(
    rows: Sequence[Row], size_of: Callable[[Sequence[Row], bool], int]
) -> tuple[list[Turn[Row]], int]:
    """The turns where nobody has said how much memory there is, and the budget that was taken."""
    try:
        return divide(rows, size_of, USUAL_BYTES), USUAL_BYTES
    except BudgetTooSmall as error:
        return divide(rows, size_of, error.least_bytes), error.least_bytes


def divide(
    rows: Sequence[Row], size_of: Callable[[Sequence[Row], bool], int], budget_bytes: int
) -> list[Turn[Row]]:
    """The rows in their order, in as few turns as fit; at least one, and one row at least in each.

    `size_of` says what rows take together, and, if it is told so, the outputs with them, which the first
    turn looks at too. `BudgetTooSmall` if a single row does not fit.
    """
    whole_bytes = size_of(rows, True)
    if whole_bytes <= budget_bytes:
        return [Turn(rows=list(rows), size_bytes=whole_bytes)]
    turns: list[Turn[Row]] = [Turn(rows=[], size_bytes=size_of((), True))]
    for row in rows:
        last = turns[-1]
        size_bytes = size_of([*last.rows, row], len(turns) == 1)
        if size_bytes > budget_bytes and (last.rows or len(turns) == 1):
            turns.append(Turn(rows=[row], size_bytes=size_of([row], False)))
        else:
            last.rows.append(row)
            last.size_bytes = size_bytes
    least_bytes = max(turn.size_bytes for turn in turns)
    if least_bytes > budget_bytes:
        raise BudgetTooSmall(budget_bytes, least_bytes)
    return turns
