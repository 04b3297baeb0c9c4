"""Bytes of the descriptors that LiteRT, its delegate and XNNPACK keep.

Sizes of XNNPACK's structures are those of a 64-bit build (src/xnnpack/subgraph.h, operator.h, compute.h);
those of the interpreter were measured on LiteRT.
"""

from __future__ import annotations

from outlive.kernels.litert.tensor_table import sparse_bytes
from outlive.kernels.xnnpack.graph import Graph, Node
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
_PRODUCT_BYTES = 288 + 688  # gemm_types, gemm_op_context
_IMAGE_BYTES = 264 + 408  # xnn_ukernel_igemm, igemm_op_context
# What malloc adds to a piece of memory, and what an aligned one costs on top.
_CHUNK_BYTES = 16
_ALIGNED_BYTES = 64

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


def node_bytes(node: Node) -> int:
    """An operator's own descriptors."""
    operator = _OPERATOR_BYTES + _ALIGNED_BYTES + _CHUNK_BYTES
    match node.type:
        case "fully_connected":
            pieces, count = operator + 2 * _STEP_BYTES + _CONVOLUTION_BYTES + _PRODUCT_BYTES, 4
        case "batch_matrix_multiply":
            pieces, count = operator + 3 * _STEP_BYTES + _PRODUCT_BYTES, 3
        case "convolution_2d" | "depthwise_convolution_2d" | "deconvolution_2d":
            pieces, count = operator + 3 * _STEP_BYTES + _CONVOLUTION_BYTES + _IMAGE_BYTES, 4
        case "concatenate":
            pieces, count = len(node.inputs) * (operator + _STEP_BYTES), len(node.inputs)
        case "even_split":
            pieces, count = len(node.outputs) * (operator + _STEP_BYTES), len(node.outputs)
        case _:
            pieces, count = operator + 2 * _STEP_BYTES, 2
    return pieces + count * _CHUNK_BYTES
