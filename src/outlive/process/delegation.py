"""What a delegate took of a model, read from the nodes that the runtime has after it came.

A delegate leaves the operators it took in the list of nodes and puts a node of its own behind them, whose
outputs it computes from that node's inputs (LiteRT, tflite/core/subgraph.cc,
ReplaceNodeSubsetsWithDelegateKernels). The way back from those outputs to those inputs is what it took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from outlive.errors import RunError

_NODE = "DELEGATE"
# A record names a few; who wants all of them asks what each accelerator takes.
_MOST_NAMED = 20
_LONGEST_NAME = 80


class LeftOperator(NamedTuple):
    """An operator that no delegate took."""

    index: int  # type: ignore[assignment]
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationSeen:
    """What was asked for, how many operators there are and how many were taken, in how many parts.

    `left` are operators that were not taken, the first of them: index and type.
    """

    asked: tuple[str, ...]
    operators: int
    taken: int
    parts: int
    left: tuple[LeftOperator, ...]


def see_delegation(asked: Sequence[str], nodes: Iterable[Sequence[Any]]) -> DelegationSeen:
    """What became of the delegates asked for; a node is its type, its inputs and its outputs."""
    rows = [
        (str(kind)[:_LONGEST_NAME], set(map(int, inputs)), set(map(int, outputs)))
        for kind, inputs, outputs in nodes
    ]
    operators = [row for row in rows if row[0] != _NODE]
    parts = [row for row in rows if row[0] == _NODE]
    taken: set[int] = set()
    makers = {tensor: index for index, (_, _, outputs) in enumerate(operators) for tensor in outputs}
    for _, inputs, outputs in parts:
        waiting = list(outputs - inputs)
        while waiting:
            maker = makers.get(waiting.pop())
            if maker is not None and maker not in taken:
                taken.add(maker)
                waiting += operators[maker][1] - inputs
    left = [LeftOperator(index, row[0]) for index, row in enumerate(operators) if index not in taken]
    return DelegationSeen(
        asked=tuple(asked),
        operators=len(operators),
        taken=len(taken),
        parts=len(parts),
        left=tuple(left[:_MOST_NAMED]),
    )


def ask_delegation(nodes: Callable[[], Any], asked: Sequence[str]) -> DelegationSeen | None:
    """What delegates took, of the nodes that a runtime is asked for; None if it does not say."""
    try:
        return see_delegation(asked, nodes())
    except RunError:
        raise
    except (AttributeError, KeyError, OverflowError, RuntimeError, TypeError, ValueError):
        return None  # an older runtime, names that are no text: the run went well all the same
