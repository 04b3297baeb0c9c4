"""Words that rules share on what was seen inside a model: who makes a tensor, and what plain sums are."""

from __future__ import annotations

from collections.abc import Iterator

from outlive.model import Operator, Subgraph, Tensor

# Sums, products, and what follows them in a layer: for inputs of usual size they give finite numbers, and
# others for others. A logarithm or a division need not; what compares or rounds gives the same on purpose.
PLAIN = frozenset(
    {"ADD", "ADD_N", "AVERAGE_POOL_2D", "BATCH_MATMUL", "BIDIRECTIONAL_SEQUENCE_LSTM",
     "BIDIRECTIONAL_SEQUENCE_RNN", "CONV_2D", "CONV_3D", "DEPTHWISE_CONV_2D", "ELU", "FULLY_CONNECTED",
     "GELU", "HARD_SWISH", "LEAKY_RELU", "LSTM", "MAX_POOL_2D", "MEAN", "MUL", "PRELU", "RELU", "RELU6",
     "RNN", "SUB", "SUM", "SVDF", "TRANSPOSE_CONV", "UNIDIRECTIONAL_SEQUENCE_LSTM",
     "UNIDIRECTIONAL_SEQUENCE_RNN"}
)  # fmt: skip
_FLOATS = ("float16", "float32", "float64")


def makers(graph: Subgraph) -> dict[int, Operator]:
    """The operators by the tensors that they make."""
    return {index: step for step in graph.operators for index in step.outputs}


def constants(graph: Subgraph, step: Operator) -> Iterator[Tensor]:
    """The constants of floating point that an operator reads."""
    for index in step.inputs:
        tensor = graph.tensors[index] if 0 <= index < len(graph.tensors) else None
        if tensor is not None and tensor.has_data and tensor.dtype in _FLOATS and tensor.sparsity is None:
            yield tensor
