"""What a part of a model remembers between runs, and where that differs from the whole, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outlive.model import Subgraph
from outlive.surgery.resources import Resources, resource_name
from outlive.units import plural

_LISTED = 8


def tell_state(
    graph: Subgraph, resources: Resources, ops: Sequence[int], came_along: Sequence[int]
) -> tuple[str, ...]:
    """Sentences about variables and resources; none for a part without state."""
    kept = frozenset(ops)
    return (*_brought(graph, came_along), *_variables(graph, kept), *_resources(resources, kept))


def list_some(items: Sequence[object]) -> str:
    """The first few items, and how many more there are."""
    more = f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return ", ".join(str(item) for item in items[:_LISTED]) + more


def _brought(graph: Subgraph, came_along: Sequence[int]) -> Iterator[str]:
    if came_along:
        names = [f"{index} {graph.operators[index].name[:40]}" for index in came_along]
        many = "operator" if len(names) == 1 else "operators"
        yield f"{many} {list_some(names)} came along: what is made there cannot be fed from outside"


def _variables(graph: Subgraph, kept: frozenset[int]) -> Iterator[str]:
    used: dict[int, list[int]] = {}
    for operator in graph.operators:
        for tensor in {*operator.inputs, *operator.outputs}:
            if tensor >= 0 and graph.tensors[tensor].is_variable:
                used.setdefault(tensor, []).append(operator.index)
    mine = [tensor for tensor, users in used.items() if not kept.isdisjoint(users)]
    if mine:
        yield f"{plural(len(mine), 'variable tensor')}: zero at first, and kept from run to run"
    shared = [tensor for tensor in mine if not kept.issuperset(used[tensor])]
    if shared:
        listed = list_some([f"#{tensor}" for tensor in shared])
        yield f"variable tensors {listed} are also used by operators left out, which do not change them here"


def _resources(resources: Resources, kept: frozenset[int]) -> Iterator[str]:
    used = dict.fromkeys(
        resource
        for index in sorted(kept)
        if index in resources.touches
        for resource in sorted(resources.touches[index].used)
    )
    if not used:
        return
    yield f"{list_some([resource_name(item) for item in used])}: kept by the interpreter from run to run"
    left = [
        f"{resource_name(resource)} ({list_some(left_out)})"
        for resource in used
        if (left_out := [index for index in resources.writers.get(resource, []) if index not in kept])
    ]
    if left:
        yield f"operators left out also write, and do not change it here: {list_some(left)}"
