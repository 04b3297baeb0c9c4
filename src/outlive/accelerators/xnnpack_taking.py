"""What a delegate of the interpreter took: XNNPACK, a library of the user's, or TensorFlow's Flex.

The operators are those that the runtime's own nodes show (`taking`). Why XNNPACK left the others is known
from its rules, which the planner replays (`arena.xnnpack`); a library of the user's does not say why.
"""

from __future__ import annotations

from outlive.accelerators.nouns import Refusal
from outlive.accelerators.seen import Taken
from outlive.accelerators.taking import crossings_of, partitions_of
from outlive.accelerators.trying import Attempt
from outlive.arena.xnnpack.partition import expected_of_xnnpack
from outlive.model import Model

_UNKNOWN = "not taken; why is not known"
_RULES = "XNNPACK's own rules"
_NODES = "the runtime's nodes"


def see_plain(model: Model, seen: Attempt) -> Taken:
    """Kernels without a delegate run everything, or the model does not run at all."""
    total = len(model.subgraphs[0].operators)
    if not seen.compiles:
        return Taken()
    return Taken(count=total, operators=tuple(range(total)), partitions=0)


def see_xnnpack(model: Model, seen: Attempt) -> Taken:
    """What XNNPACK took, and why it left the rest."""
    if not seen.compiles:
        return Taken()
    expected = expected_of_xnnpack(model)
    reasons = dict(expected.refused) if expected is not None else {}
    return _see(model, seen, frozenset(expected.taken) if expected is not None else frozenset(), reasons)


def see_nodes(model: Model, seen: Attempt) -> Taken:
    """What a delegate took that gives no reasons."""
    return _see(model, seen, frozenset(), {}) if seen.compiles else Taken()


def _see(model: Model, seen: Attempt, expected: frozenset[int], reasons: dict[int, str]) -> Taken:
    subgraph = model.subgraphs[0]
    partitions = partitions_of(subgraph, seen.nodes, expected)
    taken = {op for partition in partitions for op in partition.operators}
    refused = tuple(
        Refusal(
            op=operator.index,
            type=operator.name,
            reason=reasons.get(operator.index, _UNKNOWN),
            source=_RULES if operator.index in reasons else _NODES,
        )
        for operator in subgraph.operators
        if operator.index not in taken
    )
    return Taken(
        count=len(taken),
        operators=tuple(sorted(taken)),
        partitions=len(partitions),
        refused=refused,
        crossings=crossings_of(subgraph, partitions),
    )
