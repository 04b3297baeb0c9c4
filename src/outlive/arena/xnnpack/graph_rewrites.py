"""What XNNPACK makes of its graph before it runs, as far as memory goes: src/subgraph.c."""

from outlive.kernels.xnnpack.graph import Graph, Node
from outlive.kernels.xnnpack.node_memory import InstructionSet

# Nodes that can take over a clamp behind them (has_clamp).
_CLAMPING = (
    "average_pooling_2d",
    "convolution_2d",
    "deconvolution_2d",
    "depthwise_convolution_2d",
    "fully_connected",
    "max_pooling_2d",
)
_LONGEST_TABLE = 10  # XNN_MAX_UNARY_FUSION_NODES


def rewrite(graph: Graph, instructions: InstructionSet) -> None:
    """Rewrite the graph in place."""
    graph.link()
    for step in (_drop_unread, _fuse_padding, _fuse_copies, _tabulate, _simplify, _drop_unread):
        step(graph)
        graph.compact()
    # xnn_subgraph_optimize_packed_lhs: products quantize their input themselves, unsigned where faster.
    for node in graph.nodes:
        maker = graph.maker(node.inputs[0]) if len(node.inputs) > 1 else None
        if maker is None or maker.type != "convert" or graph.values[node.inputs[0]].kind != "qdint8":
            continue
        if node.type in ("fully_connected", "batch_matrix_multiply"):
            graph.feed(node, [maker.inputs[0], *node.inputs[1:]])
            node.numbers["inline"] = 1
        if _unsigned_is_faster(instructions, graph.values[node.inputs[1]].kind, "convolution" in node.type):
            node.numbers["unsigned"] = 1
    _drop_unread(graph)
    graph.compact()


def _drop_unread(graph: Graph) -> None:
    """xnn_subgraph_clean_up: nodes whose only output is never read."""
    waiting = list(graph.nodes)
    while waiting:
        node = waiting.pop()
        if node.gone or len(node.outputs) != 1 or not graph.is_unread(node.outputs[0]):
            continue
        graph.take_out(node)
        waiting += [maker for maker in map(graph.maker, node.inputs) if maker is not None]


def _fuse_padding(graph: Graph) -> None:
    """A padding of height and width goes into the convolution behind it."""
    for pad in graph.nodes:
        if pad.type != "static_constant_pad" or not pad.outputs:
            continue
        consumer = graph.sole_reader(pad.outputs[0])
        if consumer is None or consumer.type not in ("convolution_2d", "depthwise_convolution_2d"):
            continue
        sides = pad.axes
        spatial = len(sides) == 8 and not (sides[0] or sides[1] or sides[6] or sides[7])
        if not spatial or consumer.numbers.get("same") or consumer.inputs[0] != pad.outputs[0]:
            continue
        names = ("pad_top", "pad_bottom", "pad_left", "pad_right")
        for name, size in zip(names, sides[2:6], strict=True):
            consumer.numbers[name] = consumer.numbers.get(name, 0) + size
        graph.feed(consumer, [pad.inputs[0], *consumer.inputs[1:]])
        graph.take_out(pad)


def _fuse_copies(graph: Graph) -> None:
    """A copy from or to a value of XNNPACK's own is no copy."""
    for copy in graph.nodes:
        if copy.type != "copy" or len(copy.inputs) != 1 or len(copy.outputs) != 1:
            continue
        given, made = copy.inputs[0], copy.outputs[0]
        maker, reader = graph.maker(given), graph.sole_reader(made)
        if maker is not None and graph.sole_reader(given) and graph.values[given].place == "workspace":
            graph.take_out(copy)
            graph.deliver(maker, given, made)
        elif reader is not None and graph.values[made].place == "workspace":
            graph.take_out(copy)
            graph.feed(reader, [given if value == made else value for value in reader.inputs])


def _tabulate(graph: Graph) -> None:
    """Chains of elementwise operators from bytes to bytes become one table of 256 entries."""
    for first in graph.nodes:
        source = -1 if first.gone else _varying(graph, first, set())
        if source < 0 or _bits(graph, source) != 8:
            continue
        chain = _chain(graph, first, source)
        for node in chain[:-1]:
            graph.take_out(node)
        if len(chain) > 1:
            chain[-1].type, chain[-1].what = "unary_elementwise", "table"
            graph.feed(chain[-1], [source])


def _chain(graph: Graph, first: Node, source: int) -> list[Node]:
    """The longest chain from a node on whose every value depends on `source` alone, ending in bytes."""
    chain, known = [first], {source, first.outputs[0]}
    while len(chain) < _LONGEST_TABLE:
        following = graph.sole_reader(chain[-1].outputs[0])
        if following is None or _varying(graph, following, known) < 0:
            break
        chain.append(following)
        known.add(following.outputs[0])
    while len(chain) > 1 and _bits(graph, chain[-1].outputs[0]) != 8:
        chain.pop()
    return chain


def _varying(graph: Graph, node: Node, known: set[int]) -> int:
    """The one input a node is a function of; -1 if it is not elementwise or depends on more.

    is_pure_unary_elementwise: `known` are values that depend on that one input alone.
    """
    if not node.inputs or len(node.outputs) != 1:
        return -1
    if node.type == "unary_elementwise":
        return -1 if node.what == "table" else node.inputs[0]
    if node.type != "binary_elementwise":
        return -1
    if node.scalar:
        return next((value for value in node.inputs if graph.values[value].place != "static"), -1)
    return node.inputs[0] if known.issuperset(node.inputs) else -1


def _bits(graph: Graph, value: int) -> int:
    kind = graph.values[value].kind
    return 8 if kind in ("qint8", "quint8") else 32


def _simplify(graph: Graph) -> None:
    """optimize_common_subgraphs: clamps, squares, reshapes of reshapes, transposed factors."""
    for node in graph.nodes:
        if node.type == "binary_elementwise":
            _simplify_binary(graph, node)
    for node in graph.nodes:
        maker = graph.maker(node.inputs[0]) if node.inputs else None
        if node.gone:
            continue
        if node.type == "unary_elementwise" and node.what == "clamp":
            _merge_clamp(graph, node, maker)
        elif node.type == "batch_matrix_multiply":
            _skip_transpose(graph, node)
        elif maker is not None and _reads_through(graph, node, maker):
            graph.feed(node, maker.inputs[:1])


def _reads_through(graph: Graph, node: Node, maker: Node) -> bool:
    """True if a node can do what the one before it does: a sum of squares, a reshape of a reshape."""
    if node.type == "reduce" and node.what in ("mean", "sum"):
        return maker.what == "square" and _bits(graph, maker.inputs[0]) == 32
    both = node.type == maker.type == "static_reshape"
    return both and graph.sole_reader(node.inputs[0]) is node


def _simplify_binary(graph: Graph, node: Node) -> None:
    if node.what in ("maximum", "minimum") and node.scalar:
        node.type, node.what = "unary_elementwise", "clamp"
        data = [value for value in node.inputs if graph.values[value].place != "static"]
        graph.feed(node, (data or node.inputs)[:1])
    elif node.what == "mul" and len(node.inputs) == 2 and node.inputs[0] == node.inputs[1]:
        node.type, node.what = "unary_elementwise", "square"
        graph.feed(node, node.inputs[:1])


def _merge_clamp(graph: Graph, clamp: Node, maker: Node | None) -> None:
    if maker is None or graph.sole_reader(clamp.inputs[0]) is not clamp:
        return
    if maker.type in _CLAMPING or (maker.type == "unary_elementwise" and maker.what == "clamp"):
        graph.take_out(clamp)
        graph.deliver(maker, clamp.inputs[0], clamp.outputs[0])


def _skip_transpose(graph: Graph, product: Node) -> None:
    turn = graph.maker(product.inputs[1])
    if turn is None or turn.type != "static_transpose" or len(turn.axes) < 2:
        return
    rank = len(turn.axes)
    order = tuple(axis % rank for axis in turn.axes)
    only_last = order == (*range(rank - 2), rank - 1, rank - 2)
    if only_last and graph.sole_reader(product.inputs[1]) is product:
        graph.feed(product, [product.inputs[0], turn.inputs[0]])
        product.numbers["transposed"] ^= 1


def _unsigned_is_faster(instructions: InstructionSet, kernel: str, image: bool) -> bool:
    """convert_gemm_to_qduint8: the unsigned kernels need newer instructions than the signed ones."""
    name = {"qcint4": "qc4w", "qcint2": "qc2w", "qbint4": "qb4w"}.get(kernel, "qc8w")
    table = instructions.gemm
    unsigned = table.get(f"qdu8_f32_{name}_igemm") if image else None
    unsigned = unsigned or table.get(f"qdu8_f32_{name}_gemm")
    signed = table.get(f"qd8_f32_{name}_gemm")
    return unsigned is not None and (signed is None or unsigned.arch > signed.arch)
