"""All allocations of the delegate, in the order it makes them, and what each kind of them comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from outlive.arena.glibc_heap import GlibcHeap, HeapBlock
from outlive.arena.plan import Placement
from outlive.arena.xnnpack.graph_builder import Builder
from outlive.arena.xnnpack.graph_rewrites import rewrite
from outlive.arena.xnnpack.partition import Delegation, Run
from outlive.arena.xnnpack.structures import graph_bytes, node_bytes, runtime_bytes
from outlive.arena.xnnpack.workspace import Workspace, plan_workspace
from outlive.kernels.litert.tensor_table import sparse_bytes
from outlive.kernels.xnnpack.graph import Graph
from outlive.kernels.xnnpack.microkernels import Cost, InstructionSet
from outlive.kernels.xnnpack.node_memory import cost
from outlive.model import Subgraph

_UNPACKED_EXTRA_BYTES = 16  # XNN_EXTRA_BYTES


@dataclass(slots=True)
class PreparedRun:
    """One run as XNNPACK holds it once it is prepared."""

    subgraph: int
    run: Run
    graph: Graph
    costs: list[Cost]
    workspace: Workspace


@dataclass(slots=True)
class DelegateAllocations:
    """Bytes over all runs of all subgraphs, and the heap they come from."""

    tiles: InstructionSet
    threads: int
    cached: bool = False  # packed weights go to a mapped file
    heap: GlibcHeap = field(default_factory=GlibcHeap)
    packed_bytes: int = 0
    unpacked_bytes: int = 0
    indirection_bytes: int = 0
    workspace_bytes: int = 0
    descriptor_bytes: int = 0
    prepared: list[PreparedRun] = field(default_factory=list)

    def open(
        self, subgraph: Subgraph, delegation: Delegation, shapes: Mapping[int, tuple[int, ...]], *, used: bool
    ) -> None:
        """Make a subgraph's runtimes: weights are packed now; the rest follows if it is `used`."""
        for tensor, maker in delegation.unpacked.items():
            size = (subgraph.tensors[tensor].size_bytes or 0) + _UNPACKED_EXTRA_BYTES
            self.unpacked_bytes += size
            self.heap.allocate(size)
            # Where values go is copied meanwhile: tflite/kernels/internal/utils/sparsity_format_converter.cc.
            source = subgraph.tensors[subgraph.operators[maker].inputs[0]]
            self.heap.free(self.heap.allocate(sparse_bytes(source)))
        for run in delegation.runs:
            if run.delegated:
                self._create(subgraph, delegation, run, shapes, used)

    def _create(
        self,
        subgraph: Subgraph,
        delegation: Delegation,
        run: Run,
        shapes: Mapping[int, tuple[int, ...]],
        used: bool,
    ) -> None:
        graph = Builder(subgraph, delegation, run, shapes).build()
        tensors, defined = sum(value.tensor >= 0 for value in graph.values), len(graph.nodes)
        rewrite(graph, self.tiles)
        costs = [cost(graph, node, self.tiles, self.threads) for node in graph.nodes]
        held = [self._grow(sizes) for sizes in graph_bytes(graph, tensors, defined)]
        for size in runtime_bytes(graph, tensors):
            self._keep(size)
        for node, each in zip(graph.nodes, costs, strict=True):
            self._pack(each, node_bytes(node))
        for piece in held:
            self.heap.free(piece)
        if used:
            scratch = [each.scratch_bytes for each in costs]
            workspace = plan_workspace(graph, scratch, self.tiles.alignment_bytes)
            self.prepared.append(PreparedRun(subgraph.index, run, graph, costs, workspace))

    def _grow(self, sizes: list[int]) -> HeapBlock:
        """An array that is moved each time it grows; gives the last."""
        piece = self.heap.allocate(0)
        for size in sizes:
            larger = self.heap.allocate(size)
            self.heap.free(piece)
            piece = larger
        return piece

    def _keep(self, size_bytes: int) -> None:
        self.descriptor_bytes += size_bytes
        self.heap.allocate(size_bytes)

    def _pack(self, each: Cost, descriptor_bytes: int) -> None:
        temporary = self.heap.allocate(each.transient_bytes) if each.transient_bytes else None
        self._keep(descriptor_bytes)
        if each.packed_bytes:
            self.packed_bytes += each.packed_bytes
            if not self.cached:
                self.heap.allocate(each.packed_bytes, aligned=True)
        if temporary is not None:
            self.heap.free(temporary)

    def prepare(self) -> None:
        """Pointers to pixels, run by run; the runs share a workspace, which a larger one replaces."""
        held = None
        for each in self.prepared:
            for size in (part.indirection_bytes for part in each.costs):
                if size:
                    self.indirection_bytes += size
                    self.heap.allocate(size)
            if each.workspace.size_bytes > self.workspace_bytes:
                self.workspace_bytes = each.workspace.size_bytes
                larger = self.heap.allocate(self.workspace_bytes, aligned=True)
                if held is not None:
                    self.heap.free(held)
                held = larger

    @property
    def computes_half(self) -> bool:
        """True if an activation inside a run is float16."""
        return any(
            value.kind == "fp16" and value.place != "static"
            for each in self.prepared
            for value in each.graph.values
        )

    @property
    def grows(self) -> bool:
        """True if several runs have tensors of open shape: each learns its sizes only when it comes to it."""
        return sum(any(value.is_open for value in each.graph.values) for each in self.prepared) > 1

    def live_bytes(self, subgraph: int) -> dict[int, int]:
        """What is alive in the workspace at each of a subgraph's operators."""
        live: dict[int, int] = {}
        for each in self.prepared:
            if each.subgraph != subgraph:
                continue
            for node, size in zip(
                each.graph.nodes, each.workspace.live_bytes(len(each.graph.nodes)), strict=True
            ):
                live[node.operator] = max(live.get(node.operator, 0), size)
        return live

    def placements(self, subgraph: Subgraph, positions: Mapping[int, int]) -> Iterator[Placement]:
        """The model's tensors in the workspace; operators are counted by `positions`, the order they run."""
        for each in self.prepared:
            values = {value.id: value.tensor for value in each.graph.values}
            for block in each.workspace.blocks if each.subgraph == subgraph.index else ():
                tensor = values.get(block.value, -1)
                span = [
                    positions[each.graph.nodes[node].operator] for node in (block.first_node, block.last_node)
                ]
                if 0 <= tensor < len(subgraph.tensors):
                    yield Placement(
                        tensor=tensor,
                        name=subgraph.tensors[tensor].name,
                        offset_bytes=block.offset_bytes,
                        size_bytes=block.size_bytes,
                        first_op=min(span),
                        last_op=max(span),
                        subgraph=subgraph.index,
                    )

    def place_arenas(self, *sizes: int) -> None:
        """The runtime's own arenas come last."""
        for size in sizes:
            if size:
                self.heap.allocate(size, aligned=True)
