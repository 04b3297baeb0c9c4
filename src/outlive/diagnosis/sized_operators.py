"""Operators whose output is as large as values say, and inputs that say what the file itself says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from outlive.diagnosis.operator_names import operators_where
from outlive.model import Model, Operator, Subgraph
from outlive.process.flight import OpSeen

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Operands that decide how large the result is: the places where LiteRT's kernels (tflite/kernels) read them.
_SIZE_OPERANDS: dict[str, tuple[int, ...]] = {
    "BATCH_TO_SPACE_ND": (1, 2), "BROADCAST_TO": (1,), "FILL": (0,),
    "MIRROR_PAD": (1,), "MULTINOMIAL": (1,), "ONE_HOT": (1,), "PAD": (1,), "PADV2": (1,),
    "RANDOM_STANDARD_NORMAL": (0,), "RANDOM_UNIFORM": (0,), "RANGE": (0, 1, 2), "RESHAPE": (1,),
    "RESIZE_BILINEAR": (1,), "RESIZE_NEAREST_NEIGHBOR": (1,), "SCATTER_ND": (2,), "SLICE": (1, 2),
    "SPACE_TO_BATCH_ND": (1, 2), "SPARSE_TO_DENSE": (1,), "STABLEHLO_RNG_BIT_GENERATOR": (0,),
    "STRIDED_SLICE": (1, 2, 3), "TILE": (1,), "TOPK_V2": (1,), "TRANSPOSE_CONV": (0,),
    "AudioSpectrogram": (), "Mfcc": (1,),
}  # fmt: skip
SIZED_BY_VALUES = frozenset(_SIZE_OPERANDS)
# Kernels that do not look at the sizes they are given before they write (tflite/kernels/random_ops.cc).
UNCHECKED = frozenset({"RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"})
# Which part of the output's shape the operand is.
_PART_OF_OUTPUT: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    "BROADCAST_TO": lambda shape: shape,
    "FILL": lambda shape: shape,
    "RANDOM_STANDARD_NORMAL": lambda shape: shape,
    "RANDOM_UNIFORM": lambda shape: shape,
    "RESHAPE": lambda shape: shape,
    "RESIZE_BILINEAR": lambda shape: shape[1:3],
    "RESIZE_NEAREST_NEIGHBOR": lambda shape: shape[1:3],
    "SCATTER_ND": lambda shape: shape,
    "TOPK_V2": lambda shape: shape[-1:],
    "TRANSPOSE_CONV": lambda shape: shape,
}


def sized_by_inputs(model: Model | None) -> tuple[OpSeen, ...]:
    """Operators whose result is as large as values say that are only known when the model runs."""
    return operators_where(model, _is_open)


def fitting_sizes(model: Model) -> dict[int, NDArray[Any]]:
    """For inputs of the model that are sizes, by tensor index: the sizes that the file itself has there."""
    import numpy as np  # not above: a death without a file is explained without it

    graph = model.subgraphs[0]
    found: dict[int, NDArray[Any]] = {}
    for operator in graph.operators:
        part, places = _PART_OF_OUTPUT.get(operator.name), _SIZE_OPERANDS.get(operator.name, ())
        index = operator.inputs[places[0]] if places and places[0] < len(operator.inputs) else -1
        if part is None or index not in graph.input_indices or not _is_there(graph, operator.outputs[:1]):
            continue
        tensor, sizes = graph.tensors[index], part(graph.tensors[operator.outputs[0]].shape)
        if tensor.dtype in ("int32", "int64") and _fits(sizes, tensor.shape):
            found[index] = np.array(sizes, tensor.dtype).reshape(tensor.shape)
    return found


def _is_open(graph: Subgraph, operator: Operator) -> bool:
    places = _SIZE_OPERANDS.get(operator.name, ())
    operands = [operator.inputs[place] for place in places if place < len(operator.inputs)]
    return any(_is_there(graph, (index,)) and not graph.tensors[index].is_constant for index in operands)


def _is_there(graph: Subgraph, indices: tuple[int, ...]) -> bool:
    return bool(indices) and all(0 <= index < len(graph.tensors) for index in indices)


def _fits(sizes: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return min(sizes, default=0) > 0 and math.prod(shape) == len(sizes)
