"""From which operator to which a tensor lives, and which tensors share memory: the runtime's own counting.

The steps are those of `ArenaPlanner::PlanAllocations` and `IdentifyInPlaceTensors` (LiteRT,
tflite/arena_planner.cc), including what looks odd there: an output that is never read is never freed, and a
shared tensor's readers are counted for the tensor it shares with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from outlive.arena.builtin.best_fit import FOREVER
from outlive.arena.builtin.preparation import ExecutionNode
from outlive.kernels.litert.registry import kernel_of
from outlive.kernels.litert.tensor_table import Where

_SCALAR_BYTES = 4  # kScalarTensorBytes


@dataclass(slots=True)
class TensorLifetimes:
    """For each tensor the operator that makes it and the one that frees it; which tensor it shares with."""

    made: list[int]
    freed: list[int]
    queues: list[list[int]]  # tensors by operator, in the order they were queued
    shared: dict[int, int] = field(default_factory=dict)
    readers: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class LifetimeGraph:
    """What the counting needs to know of a subgraph, after the kernels have been prepared."""

    nodes: tuple[ExecutionNode, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    variables: tuple[int, ...]
    preserve_all: bool = False


def count_lifetimes(
    graph: LifetimeGraph, sizes: Sequence[int], where: Sequence[Where], count: int
) -> TensorLifetimes:
    """Lifetimes of the tensors of a subgraph, from their bytes and places after the first stage of preparing.

    `count` is the number of all tensors, temporaries included; theirs are added as kernels are placed.
    """
    lives = TensorLifetimes(
        made=[FOREVER] * count,
        freed=[FOREVER] * count,
        queues=[[] for _ in range(max(len(graph.nodes), 1))],
        readers=[0] * count,
    )
    for tensor in (*graph.variables, *graph.inputs):
        if lives.made[tensor] == FOREVER:
            lives.made[tensor] = 0
        lives.queues[0].append(tensor)
    held = _held(graph, count)
    _count_readers(graph, lives, held)
    _find_in_place(graph, sizes, where, lives)
    _walk(graph, lives, held)
    return lives


def _held(graph: LifetimeGraph, count: int) -> list[int]:
    """References that are never given back: outputs, variables, inputs."""
    held = [0] * count
    for tensor in (*graph.outputs, *graph.variables, *graph.inputs):
        held[tensor] += 1
    return held


def _count_readers(graph: LifetimeGraph, lives: TensorLifetimes, held: list[int]) -> None:
    lives.readers = list(held)
    for node in graph.nodes:
        for tensor in node.inputs:
            lives.readers[tensor] += 1


def _find_in_place(
    graph: LifetimeGraph, sizes: Sequence[int], where: Sequence[Where], lives: TensorLifetimes
) -> None:
    inputs, outputs = frozenset(graph.inputs), frozenset(graph.outputs)

    def may_share(source: int, target: int, unchanged: bool) -> bool:
        """InputTensorCanBeShared."""
        if source < 0 or source in inputs:
            return False
        same_size = sizes[source] == sizes[target] and sizes[source] > _SCALAR_BYTES
        if not unchanged and not (same_size and lives.readers[source] <= 1):
            return False
        return where[source] in (where[target], "arena")

    for node in graph.nodes:
        kernel = kernel_of(node.operator.type)
        target = node.first_output
        if not kernel.in_place or graph.preserve_all or target < 0 or target in outputs:
            continue
        candidates = (node.raw_inputs[place] for place in kernel.in_place if place < len(node.raw_inputs))
        source = next((tensor for tensor in candidates if may_share(tensor, target, kernel.unchanged)), -1)
        root = lives.shared.get(source, source)
        if source >= 0 and (kernel.unchanged or lives.readers[root] <= 1):
            lives.shared[target] = root


def _walk(graph: LifetimeGraph, lives: TensorLifetimes, held: list[int]) -> None:
    left = list(held)
    shared = lives.shared
    for node in graph.nodes:
        for tensor in node.inputs:
            left[shared.get(tensor, tensor)] += 1
    for index, node in enumerate(graph.nodes):
        for tensor in node.outputs:
            lives.queues[index].append(tensor)
            if lives.made[tensor] == FOREVER:
                lives.made[tensor] = index
        if graph.preserve_all:
            continue
        for tensor in node.inputs:
            root = shared.get(tensor, tensor)
            left[root] -= 1
            if left[root] == 0 and lives.made[root] != FOREVER:
                lives.freed[root] = index
