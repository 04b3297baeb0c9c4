"""All allocations of the delegate, in the order it makes them, and what each kind of them comes to.

Bytes of the descriptors that LiteRT, its delegate and XNNPACK keep.

Sizes of XNNPACK's structures are those of a 64-bit build (src/xnnpack/subgraph.h, operator.h, compute.h);
those of the interpreter were measured on LiteRT.

XNNPACK's workspace: where its planner puts activations and scratch space (src/memory-planner.c).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from outlive.arena.glibc_heap import GlibcHeap, HeapBlock
from outlive.arena.interval_index import IntervalIndex
from outlive.arena.plan import Placement
from outlive.arena.xnnpack.graph_builder import Builder
from outlive.arena.xnnpack.graph_rewrites import rewrite
from outlive.arena.xnnpack.partition import Delegation, Run
from outlive.kernels.litert.tensor_table import sparse_bytes
from outlive.kernels.xnnpack.graph import Graph, Node, Value
from outlive.kernels.xnnpack.node_memory import Cost, InstructionSet, cost, round_up
from outlive.model import Model, Subgraph

# sizeof: xnn_value and xnn_node while the graph is made; xnn_runtime_value and xnn_operator_data for good.
_GRAPH_VALUE_BYTES = 224
_GRAPH_NODE_BYTES = 232
_VALUE_BYTES = 160
_NODE_BYTES = 240
# sizeof: xnn_operator, compute_parameters, xnn_convolution_operator, and what kernels of each kind keep.
_OPERATOR_BYTES = 520
_STEP_BYTES = 88
_CONVOLUTION_BYTES = 224
# What malloc adds to a piece of memory, and what an aligned one costs on top.
_CHUNK_BYTES = 16
_ALIGNED_BYTES = 64
_PRODUCT_BYTES = 288 + _ALIGNED_BYTES, 688 + _ALIGNED_BYTES  # gemm_types, gemm_op_context
_IMAGE_BYTES = 264 + _ALIGNED_BYTES, 408 + _ALIGNED_BYTES  # xnn_ukernel_igemm, igemm_op_context

# Calibrated: TfLiteTensor, TfLiteNode and TfLiteRegistration with their arrays; the delegate's maps.
_PER_TENSOR_BYTES = 220
_PER_OPERATOR_BYTES = 320
_PER_BORDER_BYTES = 80
# Calibrated: what the first interpreter of a process costs beside its model.
_INTERPRETER_BYTES = 12 * 1024
_DELEGATE_BYTES = 8 * 1024
# Calibrated: the touched part of a worker thread's stack.
_THREAD_BYTES = 10 * 1024


def interpreter_bytes(model: Model, threads: int, *, delegated: bool) -> int:
    """Tensors, operators and quantization parameters as the interpreter keeps them, and its threads."""
    once = _INTERPRETER_BYTES + (_DELEGATE_BYTES if delegated else 0) + (threads - 1) * _THREAD_BYTES
    return once + sum(map(_subgraph_bytes, model.subgraphs))


def _subgraph_bytes(subgraph: Subgraph) -> int:
    size = _PER_TENSOR_BYTES * len(subgraph.tensors) + _PER_OPERATOR_BYTES * len(subgraph.operators)
    for tensor in subgraph.tensors:
        if tensor.quantization is not None:
            # TfLiteAffineQuantization, an array of scales and one of zero points.
            size += 24 + 2 * (4 + 4 * len(tensor.quantization.scales)) + 3 * _CHUNK_BYTES
        size += sparse_bytes(tensor)
    return size


def graph_bytes(graph: Graph, tensors: int, nodes: int) -> tuple[list[int], list[int]]:
    """Sizes the arrays of values and of nodes go through while XNNPACK's graph is made; freed afterwards.

    XNNPACK reserves an external value for every tensor the delegate names, and adds the internal ones.
    """
    values = _growth(tensors, tensors + _inside(graph))
    return [_GRAPH_VALUE_BYTES * count for count in values], [
        _GRAPH_NODE_BYTES * count for count in _growth(0, nodes)
    ]


def _growth(capacity: int, wanted: int) -> list[int]:
    """xnn_subgraph_reserve_values and _nodes in src/subgraph.c."""
    steps = [capacity] if capacity else []
    while capacity < wanted:
        capacity = max(min(2 * capacity, capacity + 512), capacity + 64)
        steps.append(capacity)
    return steps


def _inside(graph: Graph) -> int:
    return sum(value.place != "external" for value in graph.values)


def runtime_bytes(graph: Graph, tensors: int) -> list[int]:
    """Arrays of one of XNNPACK's runtimes, made from so many tensors, and the delegate's maps."""
    values = _VALUE_BYTES * (tensors + _inside(graph))
    return [_NODE_BYTES * len(graph.nodes), values, _PER_BORDER_BYTES * tensors]


def node_bytes(node: Node) -> list[int]:
    """An operator's own descriptors, piece by piece; each is looked for in the gaps of the heap by itself."""
    operator = _OPERATOR_BYTES + _ALIGNED_BYTES
    match node.type:
        case "fully_connected":
            return [operator, 2 * _STEP_BYTES, _CONVOLUTION_BYTES, *_PRODUCT_BYTES]
        case "batch_matrix_multiply":
            return [operator, 3 * _STEP_BYTES, *_PRODUCT_BYTES]
        case "convolution_2d" | "depthwise_convolution_2d" | "deconvolution_2d":
            return [operator, 3 * _STEP_BYTES, _CONVOLUTION_BYTES, *_IMAGE_BYTES]
        case "concatenate":
            return len(node.inputs) * [operator, _STEP_BYTES]
        case "even_split":
            return len(node.outputs) * [operator, _STEP_BYTES]
    return [operator, 2 * _STEP_BYTES]


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
    _workspace: HeapBlock | None = None

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
        # With a graph go many small pieces, one or more for each of its values, and leave small gaps.
        self.heap.has_small_gaps = True
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
        self.descriptor_bytes += size_bytes + _CHUNK_BYTES
        self.heap.allocate(size_bytes)

    def _pack(self, each: Cost, descriptors: list[int]) -> None:
        temporary = self.heap.allocate(each.transient_bytes) if each.transient_bytes else None
        for size in descriptors:
            self._keep(size)
        if each.packed_bytes:
            self.packed_bytes += each.packed_bytes
            if not self.cached:
                self.heap.allocate(each.packed_bytes, aligned=True)
        if temporary is not None:
            self.heap.free(temporary)

    def prepare(self, subgraph: int, position: int) -> None:
        """Pointers to pixels of a subgraph's run; all runs share a workspace, which a larger one replaces."""
        own = [each for each in self.prepared if each.subgraph == subgraph]
        for size in (part.indirection_bytes for part in own[position].costs) if position < len(own) else ():
            if size:
                self.indirection_bytes += size
                self.heap.allocate(size)
        wanted = own[position].workspace.size_bytes if position < len(own) else 0
        if wanted > self.workspace_bytes:
            self.workspace_bytes = wanted
            larger = self.heap.allocate(wanted, aligned=True)
            if self._workspace is not None:
                self.heap.free(self._workspace)
            self._workspace = larger

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
