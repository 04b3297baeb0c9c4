"""Divisions of integers whose operands are known before a run: given, or constants of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outlive.model import Operator
from outlive.rules.feed import Feed, GivenInput, uses

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIVIDERS = ("DIV", "FLOOR_DIV", "FLOOR_MOD")
# Types that are divided as they are, and the smallest number of each. Narrower ones are quantized, or widened
# by the compiler before the division.
WIDE = {"int32": -(2**31), "int64": -(2**63)}


def divisors(feed: Feed) -> Iterator[tuple[Operator, GivenInput]]:
    """Operators that divide integers by what is given, each with the given."""
    for given in feed.given:
        for step, place in uses(feed, given):
            if step.type in DIVIDERS and place == 1 and given.seen.dtype in WIDE:
                yield step, given


def divisions(
    feed: Feed, kinds: Sequence[str] = DIVIDERS
) -> Iterator[tuple[Operator, NDArray[Any], NDArray[Any]]]:
    """Operators that divide integers where both operands are known, with the operands."""
    for step in feed.model.subgraphs[0].operators:
        if step.type not in kinds or len(step.inputs) != 2:
            continue
        upper, lower = (_value(feed, step, place) for place in (0, 1))
        if (
            upper is not None
            and lower is not None
            and upper.dtype == lower.dtype
            and upper.dtype.name in WIDE
        ):
            yield step, upper, lower


def pairs(upper: NDArray[Any], lower: NDArray[Any]) -> int:
    """In how many places both hold, as the operator would pair them; 0 if their shapes do not go together."""
    import numpy as np

    if not upper.any() or not lower.any():
        return 0
    try:
        return int(np.count_nonzero(upper & lower))
    except ValueError:
        return 0


def _value(feed: Feed, step: Operator, place: int) -> NDArray[Any] | None:
    for given in feed.given:
        if (step, place) in list(uses(feed, given)):
            return given.array
    graph, index = feed.model.subgraphs[0], step.inputs[place]
    if not 0 <= index < len(graph.tensors) or not graph.tensors[index].has_data:
        return None
    try:
        return graph.tensors[index].array()
    except LookupError:
        return None
