"""Every tensor of a prepared subgraph given its offset, stage by stage.

The steps are those of `ArenaPlanner::ExecuteAllocations` and `CalculateAllocations` (LiteRT,
tflite/arena_planner.cc).

The orders that the C++ library gives: how a set of integers is walked, how ties end up after a sort.

LiteRT's planner collects tensors in `std::unordered_set<int>` and sorts them with `std::sort`, which leaves
equal elements in no promised order. The released wheels are built with libstdc++, so that its way of doing
both decides where tensors of one size lie: `bits/hashtable.h`, `bits/hashtable_policy.h`, `bits/stl_algo.h`
and `bits/stl_heap.h` of GCC.

From which operator to which a tensor lives, and which tensors share memory: the runtime's own counting.

The steps are those of `ArenaPlanner::PlanAllocations` and `IdentifyInPlaceTensors` (LiteRT,
tflite/arena_planner.cc), including what looks odd there: an output that is never read is never freed, and a
shared tensor's readers are counted for the tensor it shares with.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from outlive.arena.builtin.best_fit import FOREVER, BestFitArena
from outlive.arena.builtin.preparation import ExecutionNode, Preparation
from outlive.kernels.litert.registry import kernel_of
from outlive.kernels.litert.tensor_table import Where

# The bucket counts that libstdc++ passes through when a set grows from empty by doubling
# (the next entry of its prime list at twice the count; the first insertion asks for 11 and gets 13).
BUCKETS = (13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933, 351061, 712697)
_STILL_INSERTION = 16  # _S_threshold


def walked(keys: Iterable[int]) -> list[int]:
    """The keys in the order in which an `unordered_set<int>` filled in this order is walked."""
    pending = list(dict.fromkeys(keys))
    walk: list[int] = []
    for buckets in BUCKETS:
        room = buckets - len(walk)
        # The list after inserting keys one by one: a new bucket goes to the head, a key to its bucket's
        # head.
        chains: dict[int, list[int]] = {}
        for key in walk + pending[:room]:
            chains.setdefault(key % buckets, []).append(key)
        walk = [key for chain in reversed(chains.values()) for key in reversed(chain)]
        pending = pending[room:]
        if not pending:
            return walk
    return walk + pending  # more tensors at one operator than any file can name


def sorted_as_library(items: Sequence[int], ranks: Sequence[int]) -> list[int]:
    """The items ordered by rank (one for each item) as `std::sort` leaves them, ties included."""
    if len(set(ranks)) == len(ranks):
        return [item for _, item in sorted(zip(ranks, items, strict=True))]
    pairs = list(zip(ranks, items, strict=True))
    _introsort(pairs)
    return [item for _, item in pairs]


_Pairs = list[tuple[int, int]]


def _introsort(pairs: _Pairs) -> None:
    depth = 2 * (len(pairs).bit_length() - 1)
    stack = [(0, len(pairs), depth)]
    while stack:
        first, last, depth = stack.pop()
        while last - first > _STILL_INSERTION:
            if depth == 0:
                _heapsort(pairs, first, last)
                break
            depth -= 1
            cut = _partition(pairs, first, last)
            # Right and left parts do not touch each other: the order in which they are done is free.
            stack.append((cut, last, depth))
            last = cut
    _insertion_sort(pairs)


def _partition(pairs: _Pairs, first: int, last: int) -> int:
    _median_to_first(pairs, first, first + 1, first + (last - first) // 2, last - 1)
    pivot = pairs[first][0]
    low, high = first + 1, last
    while True:
        while pairs[low][0] < pivot:
            low += 1
        high -= 1
        while pivot < pairs[high][0]:
            high -= 1
        if low >= high:
            return low
        pairs[low], pairs[high] = pairs[high], pairs[low]
        low += 1


def _median_to_first(pairs: _Pairs, result: int, a: int, b: int, c: int) -> None:
    if pairs[a][0] < pairs[b][0]:
        chosen = b if pairs[b][0] < pairs[c][0] else c if pairs[a][0] < pairs[c][0] else a
    else:
        chosen = a if pairs[a][0] < pairs[c][0] else c if pairs[b][0] < pairs[c][0] else b
    pairs[result], pairs[chosen] = pairs[chosen], pairs[result]


def _insertion_sort(pairs: _Pairs) -> None:
    """The last pass; guarded and unguarded insertion put an element behind its equals alike."""
    for position in range(1, len(pairs)):
        pair = pairs[position]
        hole = position
        while hole and pair[0] < pairs[hole - 1][0]:
            pairs[hole] = pairs[hole - 1]
            hole -= 1
        pairs[hole] = pair


def _heapsort(pairs: _Pairs, first: int, last: int) -> None:
    """Taken when the partitions go deep: make_heap, then sort_heap."""
    heap = pairs[first:last]
    for parent in range((len(heap) - 2) // 2, -1, -1):
        _sift(heap, parent, len(heap), heap[parent])
    for end in range(len(heap) - 1, 0, -1):
        value = heap[end]
        heap[end] = heap[0]
        _sift(heap, 0, end, value)
    pairs[first:last] = heap


def _sift(heap: _Pairs, hole: int, length: int, value: tuple[int, int]) -> None:
    """__adjust_heap: the hole goes down along the larger children, then the value comes up."""
    top = hole
    child = hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if heap[child][0] < heap[child - 1][0]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    parent = (hole - 1) // 2
    while hole > top and heap[parent][0] < value[0]:
        heap[hole] = heap[parent]
        hole = parent
        parent = (hole - 1) // 2
    heap[hole] = value


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
