"""XNNPACK's workspace: where its planner puts activations and scratch space (src/memory-planner.c)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from outlive.arena.interval_index import IntervalIndex
from outlive.kernels.xnnpack.graph import Graph, Value
from outlive.kernels.xnnpack.microkernels import round_up

_EXTRA_BYTES = 16  # XNN_EXTRA_BYTES
_EXTRA_PARAMETERS = 15  # XNN_EXTRA_QUANTIZATION_PARAMS
# Stays looked at before the rest are put behind one another: a file can ask for work that grows with the
# square of its operators, and is then given a bound.
_PATIENCE = 30_000_000
_IN_PLACE = ("unary_elementwise", "binary_elementwise", "copy", "softmax", "static_reshape")


@dataclass(slots=True)
class WorkspaceBlock:
    """A value's or a node's scratch space in the workspace, from one node to another, both included."""

    size_bytes: int
    first_node: int
    last_node: int
    offset_bytes: int = 0
    value: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """All blocks, and the bytes they need together; 0 if there is none."""

    blocks: tuple[WorkspaceBlock, ...]
    size_bytes: int

    def live_bytes(self, nodes: int) -> list[int]:
        """What is alive at each of so many nodes."""
        changes = [0] * (nodes + 1)
        for block in self.blocks:
            changes[block.first_node] += block.size_bytes
            changes[block.last_node + 1] -= block.size_bytes
        return list(accumulate(changes[:-1]))


def plan_workspace(graph: Graph, scratch_bytes: list[int], alignment_bytes: int) -> Workspace:
    """Where everything goes; `scratch_bytes` is what each node needs while it runs."""
    blocks = _stays(graph, alignment_bytes)
    _share_in_place(graph, blocks)
    rows = [block for block in blocks.values() if block.size_bytes]
    rows += [
        WorkspaceBlock(round_up(round_up(size, _EXTRA_BYTES), alignment_bytes), index, index)
        for index, size in enumerate(scratch_bytes)
        if size
    ]
    rows.sort(key=lambda block: -block.size_bytes)
    end = _place(rows)
    # Sparse kernels may read beyond the end: initialize_workspace_values.
    return Workspace(blocks=tuple(rows), size_bytes=end + 2 * _EXTRA_BYTES if end else 0)


def _stays(graph: Graph, alignment_bytes: int) -> dict[int, WorkspaceBlock]:
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        for value in (*node.inputs, *node.outputs):
            first.setdefault(value, index)
            last[value] = index
    return {
        value.id: WorkspaceBlock(
            _rounded(value, alignment_bytes), first[value.id], last[value.id], value=value.id
        )
        for value in graph.values
        if value.place == "workspace" and value.id in first
    }


def _rounded(value: Value, alignment_bytes: int) -> int:
    size = round_up(round_up(value.bytes, _EXTRA_BYTES), alignment_bytes)
    if value.kind != "qdint8":
        return size
    rows = 1
    for dimension in value.shape[: value.batch_dimensions]:
        rows *= dimension
    parameters = 8 * (rows + _EXTRA_PARAMETERS), 4 * (rows + _EXTRA_PARAMETERS)
    return size + sum(round_up(round_up(part, _EXTRA_BYTES), alignment_bytes) for part in parameters)


def _share_in_place(graph: Graph, blocks: dict[int, WorkspaceBlock]) -> None:
    """Operators that work in place, where input and output have one reader each: src/runtime.c."""
    graph.link()
    positions = {id(node): index for index, node in enumerate(graph.nodes)}
    roots: dict[int, int] = {}
    for node in graph.nodes:
        if node.type not in _IN_PLACE or not node.outputs:
            continue
        made = node.outputs[0]
        given = next((value for value in node.inputs if _reusable(graph, value, made)), None)
        readers = graph.readers(made)
        if given is None or len(readers) != 1:
            continue
        root = roots.get(given, given)
        roots[made] = root
        blocks[root].last_node = positions[id(readers[0])]
        blocks[made].size_bytes = 0


def _reusable(graph: Graph, given: int, made: int) -> bool:
    source, target = graph.values[given], graph.values[made]
    return (
        source.place == target.place == "workspace"
        and len(graph.readers(given)) == 1
        and source.bytes == target.bytes
    )


def _place(rows: list[WorkspaceBlock]) -> int:
    """Largest first, each in the smallest gap it fits: xnn_plan_value_allocation_tracker."""
    end = 0
    placed = IntervalIndex[WorkspaceBlock](max((block.last_node for block in rows), default=0) + 1)
    for block in rows:
        if placed.work > _PATIENCE:
            block.offset_bytes = end
            end += block.size_bytes
            continue
        meeting = placed.meeting(block.first_node, block.last_node)
        live = sorted((other.offset_bytes, other.offset_bytes + other.size_bytes) for other in meeting)
        block.offset_bytes = _smallest_gap(live, block.size_bytes)
        end = max(end, block.offset_bytes + block.size_bytes)
        placed.add(block.first_node, block.last_node, block)
    return end


def _smallest_gap(live: list[tuple[int, int]], size: int) -> int:
    best, smallest, edge = -1, -1, 0
    for start, stop in live:
        gap = start - edge
        if gap >= size and (smallest < 0 or gap < smallest):
            best, smallest = edge, gap
        edge = max(edge, stop)
    return best if best >= 0 else edge
