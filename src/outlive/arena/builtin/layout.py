"""Every tensor of a prepared subgraph given its offset, stage by stage.

The steps are those of `ArenaPlanner::ExecuteAllocations` and `CalculateAllocations` (LiteRT,
tflite/arena_planner.cc).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from outlive.arena.builtin.best_fit import FOREVER, BestFitArena
from outlive.arena.builtin.library_order import sorted_as_library, walked
from outlive.arena.builtin.lifetimes import LifetimeGraph, TensorLifetimes, count_lifetimes
from outlive.arena.builtin.preparation import Preparation


@dataclass(slots=True)
class SubgraphLayout:
    """A subgraph with its tensors placed: offsets by tensor, in the arena and in the persistent one."""

    preparation: Preparation
    lives: TensorLifetimes
    arena: BestFitArena
    persistent: BestFitArena
    offsets: dict[int, int] = field(default_factory=dict)
    persistent_offsets: dict[int, int] = field(default_factory=dict)
    shared: dict[int, int] = field(default_factory=dict)  # those that really lie on another tensor
    grown: list[tuple[int, int]] = field(default_factory=list)  # both arenas after each stage


def lay_out(preparation: Preparation, preserve_all: bool) -> SubgraphLayout:
    """Offsets of all tensors, by the runtime's rules."""
    _number_temporaries(preparation)
    table = preparation.table
    graph = LifetimeGraph(
        nodes=preparation.nodes_then,
        inputs=_there(preparation.inputs),
        outputs=_there(preparation.outputs),
        variables=tuple(tensor.index for tensor in table.tensors if tensor.is_variable),
        preserve_all=preserve_all,
    )
    lives = count_lifetimes(graph, preparation.bytes_then, preparation.where_then, len(table.where))
    operators = len(preparation.nodes)
    layout = SubgraphLayout(preparation, lives, BestFitArena(operators), BestFitArena(operators))
    for first, last in preparation.stages:
        _queue_temporaries(layout, first, last, preserve_all)
        _place_stage(layout, first, last)
        layout.grown.append((layout.arena.size_bytes, layout.persistent.size_bytes))
    _settle_shared(layout)
    return layout


def _there(indices: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(index for index in indices if index >= 0)


def _number_temporaries(preparation: Preparation) -> None:
    """Slots get their indices: those that nodes add when they are made, then those they add when prepared."""
    table = preparation.table
    numbers = [[table.add(slot) for slot in slots.at_init] for slots in preparation.slots]
    for index, slots in enumerate(preparation.slots):
        own = numbers[index] + [table.add(slot) for slot in slots.at_prepare]
        chosen = range(len(own)) if slots.order is None else slots.order
        if own:
            temporaries = tuple(own[position] for position in chosen)
            preparation.nodes[index] = replace(preparation.nodes[index], temporaries=temporaries)


def _queue_temporaries(layout: SubgraphLayout, first: int, last: int, preserve_all: bool) -> None:
    lives, nodes = layout.lives, layout.preparation.nodes
    for index in range(first, min(last + 1, len(nodes))):
        for tensor in nodes[index].temporaries:
            lives.made[tensor] = index
            lives.queues[index].append(tensor)
            if not preserve_all:
                lives.freed[tensor] = index


def _place_stage(layout: SubgraphLayout, first: int, last: int) -> None:
    lives, table = layout.lives, layout.preparation.table
    queued = (tensor for index in range(first, last + 1) for tensor in walked(lives.queues[index]))
    chosen = [
        tensor
        for tensor in queued
        if table.where[tensor] == "persistent"
        or (table.where[tensor] == "arena" and table.bytes[tensor] > 0 and tensor not in layout.offsets)
    ]
    for tensor in _in_order(layout, chosen):
        if _is_shared(layout, tensor):
            continue
        if table.where[tensor] == "arena":
            place = layout.arena.place(table.bytes[tensor], lives.made[tensor], lives.freed[tensor])
            layout.offsets[tensor] = place
        elif table.bytes[tensor] and tensor not in layout.persistent_offsets:
            place = layout.persistent.place(table.bytes[tensor], lives.made[tensor], FOREVER)
            layout.persistent_offsets[tensor] = place


def _in_order(layout: SubgraphLayout, chosen: list[int]) -> list[int]:
    """CreateTensorAllocationVector: whole lives first, by index; then the largest, then the earliest made."""
    lives, sizes = layout.lives, layout.preparation.table.bytes
    keys = [
        (0, tensor, 0)
        if lives.made[tensor] == 0 and lives.freed[tensor] == FOREVER
        else (1, -sizes[tensor], lives.made[tensor])
        for tensor in chosen
    ]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return sorted_as_library(chosen, [ranks[key] for key in keys])


def _is_shared(layout: SubgraphLayout, tensor: int) -> bool:
    """True if it needs no place of its own; a tensor that no longer fits the one it shared with does."""
    root = layout.lives.shared.get(tensor)
    if root is None:
        return False
    table = layout.preparation.table
    if table.where[root] != "arena" or table.bytes[root] != table.bytes[tensor]:
        del layout.lives.shared[tensor]
        return False
    return True


def _settle_shared(layout: SubgraphLayout) -> None:
    """ResolveTensorAllocation: a shared tensor lies where its root lies, if both are in one arena."""
    where = layout.preparation.table.where
    for tensor, root in layout.lives.shared.items():
        if where[tensor] != where[root]:
            continue
        for offsets in (layout.offsets, layout.persistent_offsets):
            if root in offsets:
                offsets[tensor] = offsets[root]
                layout.shared[tensor] = root
