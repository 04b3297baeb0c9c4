"""From a run of the model's operators to XNNPACK's graph: Subgraph::Create and Visit...Node."""

import struct
from collections.abc import Callable, Mapping

from outlive.arena.xnnpack.partition import Delegation, Run
from outlive.kernels.xnnpack import checks
from outlive.kernels.xnnpack.checks import DelegateView, datatype
from outlive.kernels.xnnpack.graph import Graph, Node, Value
from outlive.kernels.xnnpack.registry import CUSTOM_OPERATORS, OPERATORS
from outlive.model import Operator, Subgraph

_CLAMPS = ("RELU", "RELU6", "RELU_N1_TO_1")


class Builder:
    """Makes one graph; shapes are those the tensors have when the model runs."""

    def __init__(
        self,
        subgraph: Subgraph,
        delegation: Delegation,
        run: Run,
        shapes: Mapping[int, tuple[int, ...]],
    ) -> None:
        """A builder for one run of a subgraph."""
        self._subgraph = subgraph
        self._delegation = delegation
        self._run = run
        self._shapes = shapes
        self._graph = Graph()
        self._values: dict[int, int] = {}

    def build(self) -> Graph:
        """The graph, before XNNPACK rewrites it."""
        operators = [self._subgraph.operators[index] for index in self._run.operators]
        operators = [
            op for op in operators if op.index not in self._delegation.unpacking and op.type != "VAR_HANDLE"
        ]
        self._define_values(operators)
        for operator in operators:
            visit = _VISITS.get(operator.type) or _VISITS.get(operator.name)
            if visit is not None:
                visit(self, operator)
            elif _node_type(operator) != "unary_elementwise":
                self._simple(operator)
            else:
                node = self._node("unary_elementwise", self._ids(operator), operator)
                node.what = "clamp" if operator.type in _CLAMPS else operator.type.lower()
        return self._graph

    def _define_values(self, operators: list[Operator]) -> None:
        """External values first, then the others, each by the model's tensor index."""
        used = {self._source(t) for operator in operators for t in self._data(operator)}
        used |= {tensor for operator in operators for tensor in operator.outputs}
        outputs, inputs = set(self._run.outputs), set(self._run.inputs)
        rows = []
        for index in sorted(tensor for tensor in used if tensor < len(self._subgraph.tensors)):
            tensor = self._subgraph.tensors[index]
            constant = tensor.is_constant or index in self._delegation.unpacked
            border = tensor.dtype == "resource" or index in outputs or (index in inputs and not constant)
            rows.append((not border, index, constant))
        for inside, index, constant in sorted(rows):
            tensor, shape = self._subgraph.tensors[index], self._shape(index)
            value = self._graph.add(datatype(tensor, shape) or "fp32", shape, "workspace", index)
            value.place = "workspace" if inside else "external"
            value.place = "static" if constant and inside else value.place
            value.is_output = index in outputs
            value.is_open = tensor.is_dynamic
            self._values[index] = value.id

    def _source(self, tensor: int) -> int:
        return self._delegation.kept_half.get(tensor, tensor)

    def _data(self, operator: Operator) -> list[int]:
        known = OPERATORS.get(operator.type)
        chosen = known.data_inputs if known is not None else None
        chosen = tuple(range(len(operator.inputs))) if chosen is None else chosen
        present = (operator.inputs[position] for position in chosen if position < len(operator.inputs))
        return [tensor for tensor in present if 0 <= tensor < len(self._subgraph.tensors)]

    def _shape(self, tensor: int) -> tuple[int, ...]:
        return self._shapes.get(tensor, self._subgraph.tensors[tensor].shape)

    def _view(self, operator: Operator) -> DelegateView:
        return DelegateView(operator, self._subgraph.tensors, self._shapes)

    def _ids(self, operator: Operator) -> list[int]:
        return [self._values[self._source(tensor)] for tensor in self._data(operator)]

    def _node(self, kind: str, inputs: list[int], operator: Operator) -> Node:
        outputs = [self._values[tensor] for tensor in operator.outputs if tensor in self._values]
        node = Node(kind, inputs, outputs, operator.index)
        self._graph.nodes.append(node)
        return node

    def _own(self, node_type: str, given: Value, made: Value, operator: Operator, what: str = "") -> Value:
        """A node XNNPACK or the delegate adds by itself, and the value it makes."""
        self._graph.nodes.append(Node(node_type, [given.id], [made.id], operator.index, what=what))
        return made

    def _simple(self, operator: Operator) -> None:
        view, ids = self._view(operator), self._ids(operator)
        node = self._node(_node_type(operator), ids, operator)
        if operator.type == "ASSIGN_VARIABLE":
            node.inputs, node.outputs = [ids[1]], [ids[0]]
        node.what = operator.type.lower()
        node.axes = checks.integers(view.input(1)) or () if operator.type in ("TRANSPOSE", "PAD") else ()
        if node.type == "binary_elementwise":
            node.scalar = any(
                self._graph.values[i].place == "static" and self._graph.values[i].elements == 1 for i in ids
            )
        for name in ("stride_h", "stride_w", "filter_height", "filter_width"):
            node.numbers[name] = view.number(name, 1)
        node.numbers["same"] = int(view.option("padding", "SAME") == "SAME")
        if operator.type == "CUSTOM":
            node.numbers |= _custom_numbers(operator)

    def _convolution(self, operator: Operator) -> None:
        view, ids = self._view(operator), self._ids(operator)
        data, kernel = self._graph.values[ids[0]], self._graph.values[ids[1]]
        hybrid = data.kind == "fp32" and kernel.kind in ("qint8", "qcint8")
        depthwise = operator.type == "DEPTHWISE_CONV_2D"
        pointwise = self._is_product(view, data, kernel) and not depthwise
        if hybrid:
            kernel.kind = "qcint8"
            ids[0] = self._quantized(data, operator, 1 if pointwise else 3).id
        node = self._node("fully_connected" if pointwise else "convolution_2d", ids, operator)
        if depthwise:
            node.type = "depthwise_convolution_2d"
        if pointwise:
            return
        for name in ("stride_h", "stride_w", "dilation_h_factor", "dilation_w_factor", "depth_multiplier"):
            node.numbers[name] = view.number(name, 1)
        node.numbers["same"] = int(view.option("padding", "SAME") == "SAME")

    def _is_product(self, view: DelegateView, data: Value, kernel: Value) -> bool:
        """A 1x1 convolution becomes a fully connected node: src/subgraph/convolution-2d.c."""
        strides = view.number("stride_h", 1), view.number("stride_w", 1)
        if len(kernel.shape) != 4 or kernel.shape[1:3] != (1, 1) or strides != (1, 1):
            return False
        return data.shape[-1:] == kernel.shape[3:] and kernel.shape[0] + kernel.shape[3] > 2

    def _quantized(self, data: Value, operator: Operator, inner: int) -> Value:
        made = self._graph.add("qdint8", data.shape)
        made.batch_dimensions = max(0, len(data.shape) - inner)
        return self._own("convert", data, made, operator)

    def _fully_connected(self, operator: Operator) -> None:
        view, ids = self._view(operator), self._ids(operator)
        data, kernel = self._graph.values[ids[0]], self._graph.values[ids[1]]
        if not view.option("keep_num_dims", False):
            width = kernel.shape[-1] or 1
            flat = self._graph.add(data.kind, (data.elements // width, width))
            data = self._own("static_reshape", data, flat, operator)
        if kernel.kind in ("qint8", "qint4", "qint2") and data.kind in ("fp32", "fp16", "qint8"):
            kernel.kind = kernel.kind.replace("q", "qc")
        if data.kind in ("fp32", "fp16") and kernel.kind.startswith("q"):
            data = self._quantized(data, operator, 1)
        self._node("fully_connected", [data.id, *ids[1:]], operator)

    def _batch_matmul(self, operator: Operator) -> None:
        view, ids = self._view(operator), self._ids(operator)
        left, right = self._graph.values[ids[0]], self._graph.values[ids[1]]
        if view.option("adj_x", False):
            turned = self._graph.add(left.kind, (*left.shape[:-2], left.shape[-1], left.shape[-2]))
            left = self._own("static_transpose", left, turned, operator)
        if left.kind == "fp32" and right.kind in ("qint8", "qcint8"):
            right.kind = "qcint8"
            left = self._quantized(left, operator, 1)
        node = self._node("batch_matrix_multiply", [left.id, right.id], operator)
        node.numbers["transposed"] = int(bool(view.option("adj_y", False)))

    def _pooling(self, operator: Operator) -> None:
        view = self._view(operator)
        if view.number("filter_height") == view.number("filter_width") == 1:
            self._node("unary_elementwise", self._ids(operator), operator).what = "clamp"
        else:
            self._simple(operator)

    def _attention(self, operator: Operator) -> None:
        """VisitDotAttentionNode: scale, turn, multiply, mask, softmax, multiply, turn back."""
        if len(operator.inputs) < 3:
            return
        query, key, value = (self._graph.values[self._values[t]] for t in operator.inputs[:3])
        if min(map(len, (query.shape, key.shape, value.shape))) < 4:
            return
        batch, length, heads, depth = query.shape
        keys = key.shape[1]
        scaled = self._own("binary_elementwise", query, self._graph.add("fp32", query.shape), operator)
        left = self._turned(scaled, (batch, heads, length, depth), operator)
        right = self._turned(key, (batch, key.shape[2], keys, depth), operator)
        logits = self._product(left, right, (batch, heads, length, keys), operator)
        for _ in operator.inputs[3:4]:
            logits = self._own("binary_elementwise", logits, self._graph.add("fp32", logits.shape), operator)
        chances = self._own("softmax", logits, self._graph.add("fp32", logits.shape), operator)
        right = self._turned(value, (batch, value.shape[2], depth, value.shape[1]), operator)
        found = self._product(chances, right, (batch, heads, length, depth), operator)
        self._node("static_transpose", [found.id], operator)

    def _turned(self, given: Value, shape: tuple[int, ...], operator: Operator) -> Value:
        return self._own("static_transpose", given, self._graph.add("fp32", shape), operator)

    def _product(self, left: Value, right: Value, shape: tuple[int, ...], operator: Operator) -> Value:
        made = self._graph.add("fp32", shape)
        node = Node("batch_matrix_multiply", [left.id, right.id], [made.id], operator.index)
        node.numbers["transposed"] = 1
        self._graph.nodes.append(node)
        return made


def _node_type(operator: Operator) -> str:
    found = OPERATORS.get(operator.name) or CUSTOM_OPERATORS.get(operator.name)
    return "unary_elementwise" if found is None else found.node


def _custom_numbers(operator: Operator) -> dict[str, int]:
    """Options of MediaPipe's operators: TfLiteTransposeConvParams or TfLitePoolParams, as in memory."""
    raw = bytes((operator.custom_options or b"")[:20]).ljust(20, b"\0")
    padding, across, down, width, height = struct.unpack("<5i", raw)
    numbers = {"same": int(padding == 1), "stride_w": across, "stride_h": down}
    if operator.custom_name != "Convolution2DTransposeBias":
        numbers |= {"filter_width": width, "filter_height": height}
    return {name: max(int(name != "same"), value) for name, value in numbers.items()}


_VISITS: dict[str, Callable[[Builder, Operator], None]] = {
    "CONV_2D": Builder._convolution,
    "DEPTHWISE_CONV_2D": Builder._convolution,
    "FULLY_CONNECTED": Builder._fully_connected,
    "BATCH_MATMUL": Builder._batch_matmul,
    "AVERAGE_POOL_2D": Builder._pooling,
    "MAX_POOL_2D": Builder._pooling,
    "STABLEHLO_COMPOSITE": Builder._attention,
    "odml.scaled_dot_product_attention": Builder._attention,
}
