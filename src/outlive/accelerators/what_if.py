"""What an accelerator would take if it took operators that it refuses: computed, not tried."""

from __future__ import annotations

from collections.abc import Iterable

from outlive.accelerators.gpu_taking import ELSEWHERE
from outlive.accelerators.nouns import Accelerator, WhatIf
from outlive.arena.xnnpack.partition import partition
from outlive.model import Model, Subgraph

# Groups of refused operators that are looked at: the largest, and no more of them than a person reads.
_MOST_GROUPS = 6
# A graph beyond this is partitioned for real or not at all.
_MOST_OPERATORS = 20_000


def what_ifs(model: Model, one: Accelerator) -> tuple[WhatIf, ...]:
    """For each kind of refused operator: how much would be taken, in how many partitions, without it."""
    subgraph = model.subgraphs[0]
    known = [refusal.op for refusal in one.refused if refusal.op is not None]
    if one.taken is None or len(known) != len(one.refused) or len(subgraph.operators) > _MOST_OPERATORS:
        return ()
    groups: dict[tuple[str, str], list[int]] = {}
    for refusal, index in zip(one.refused, known, strict=True):
        if refusal.reason != ELSEWHERE:
            groups.setdefault((refusal.type, refusal.reason), []).append(index)
    able = {operator.index for operator in subgraph.operators}
    able -= {index for indices in groups.values() for index in indices}
    takes_one = one.name.startswith("gpu")
    largest = sorted(groups.items(), key=lambda item: -len(item[1]))[:_MOST_GROUPS]
    return tuple(
        _what_if(subgraph, kind, reason, able.union(indices), takes_one)
        for (kind, reason), indices in largest
    )


def _what_if(subgraph: Subgraph, kind: str, reason: str, wanted: Iterable[int], takes_one: bool) -> WhatIf:
    sizes = [len(run.operators) for run in partition(subgraph, frozenset(wanted)) if run.delegated]
    if takes_one:  # the GPU takes the largest partition only
        sizes = sorted(sizes)[-1:]
    return WhatIf(type=kind, reason=reason, ops_taken=sum(sizes), partitions=len(sizes))
