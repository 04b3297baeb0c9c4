"""A model whose weights with many zeros are stored sparsely, as the converter for pruned models writes them.

    weight (dense) ──> sparse constant ──> DENSIFY ──> the tensor that operators read

Compressed rows along the last dimension: LiteRT, tflite/kernels/densify.cc unpacks them when a model is
prepared or first run, into memory of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.model import Model
from outlive.model.zeros import WeightZeros, count_zeros
from outlive.surgery.tree import Tree, check_options, tree_of
from outlive.surgery.trimmed import NUMBERLESS
from outlive.surgery.writer import write

# The types that DENSIFY unpacks.
_TYPES = {"float32": np.uint32, "float16": np.uint16, "int8": np.int8}
_SIGNLESS = {"float32": 0x7FFFFFFF, "float16": 0x7FFF, "int8": -1}
_VECTORS = ((2**8, "Uint8Vector", np.uint8), (2**16, "Uint16Vector", np.uint16))
_READERS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "DEQUANTIZE"})
_KIND: Tree = {"builtin_code": "DENSIFY", "deprecated_builtin_code": 124, "version": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparsified:
    """The file with sparse weights, and how many there are; `data` is None if none would be smaller."""

    data: bytes | None
    weights: int
    dense_bytes: int


def sparsify(model: Model) -> Sparsified:
    """The model with every weight stored sparsely that is smaller so. For a model that was found sound.

    Results stay the same: the runtime unpacks the same numbers; only zeros lose their sign. A model with
    metadata that speaks of operators by number has no sparse form here: it would be wrong in it.
    """
    if any(entry.name not in NUMBERLESS for entry in model.metadata):
        return Sparsified(data=None, weights=0, dense_bytes=0)
    tree = tree_of(model.content)
    for graph in tree["subgraphs"]:
        for index, operator in enumerate(graph["operators"] or ()):
            check_options(operator, index)
    weights = [weight for weight in count_zeros(model, 0.3) if _is_unpackable(model, weight)]
    chosen = [(weight, made) for weight in weights if (made := _encoded(weight)) is not None]
    if not chosen:
        return Sparsified(data=None, weights=0, dense_bytes=0)
    code = len(tree["operator_codes"])
    tree["operator_codes"] = [*tree["operator_codes"], _KIND]
    tree["buffers"] = [{"data": buffer["data"]} for buffer in tree["buffers"]]
    steps: dict[int, list[Tree]] = {}
    for weight, made in chosen:
        step = _put(tree, weight, made, code)
        steps.setdefault(weight.subgraph, []).append(step)
    for index, before in steps.items():
        graph = tree["subgraphs"][index]
        graph["operators"] = [*before, *(graph["operators"] or ())]
    outside = any(buffer.outside for buffer in model.buffers)
    return Sparsified(
        data=write(tree, outside=outside),
        weights=len(chosen),
        dense_bytes=sum(weight.dense_bytes for weight, _ in chosen),
    )


def _is_unpackable(model: Model, weight: WeightZeros) -> bool:
    """True if all that read it take a weight that is computed as well."""
    graph, index = model.subgraphs[weight.subgraph], weight.tensor.index
    readers = [operator for operator in graph.operators if index in operator.inputs]
    ends = {*graph.input_indices, *graph.output_indices}
    # LiteRT with XNNPACK: "failed to delegate FULLY_CONNECTED" for 8-bit weights from DENSIFY.
    taken = _READERS - {"FULLY_CONNECTED"} if weight.tensor.dtype == "int8" else _READERS
    return index not in ends and all(operator.type in taken for operator in readers)


def _encoded(weight: WeightZeros) -> tuple[Tree, NDArray[Any]] | None:
    """The sparsity of a weight and the elements it keeps; None if it is no smaller so."""
    tensor = weight.tensor
    kind = _TYPES.get(tensor.dtype)
    if kind is None or weight.is_sparse or len(tensor.shape) < 2 or tensor.data is None:
        return None
    rows = np.frombuffer(tensor.data[: weight.dense_bytes], kind).reshape(-1, tensor.shape[-1])
    # Floats have a zero of each sign, and pruning makes both.
    kept = rows & _SIGNLESS[tensor.dtype] != 0
    segments = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    indices = np.nonzero(kept)[1]
    lists = {"array_segments": _vector(segments), "array_indices": _vector(indices)}
    size = kept.sum() * rows.itemsize + sum(values["values"].nbytes for _, values in lists.values())
    if size >= weight.dense_bytes:
        return None
    last: Tree = {"format": "SPARSE_CSR"}
    for name, (vector, values) in lists.items():
        last |= {f"{name}_type": vector, name: values}
    dense = [{"format": "DENSE", "dense_size": size} for size in tensor.shape[:-1]]
    order = list(range(len(tensor.shape)))
    return {"traversal_order": order, "dim_metadata": [*dense, last]}, rows[kept]


def _vector(values: NDArray[Any]) -> tuple[str, Tree]:
    largest = int(values.max()) if values.size else 0
    for limit, name, kind in _VECTORS:
        if largest < limit:
            return name, {"values": values.astype(kind)}
    return "Int32Vector", {"values": values.astype(np.int32)}


def _put(tree: Tree, weight: WeightZeros, made: tuple[Tree, NDArray[Any]], code: int) -> Tree:
    """Put the sparse constant beside the tensor; the operator that unpacks it."""
    sparsity, kept = made
    tensors = tree["subgraphs"][weight.subgraph]["tensors"]
    old = tensors[weight.tensor.index]
    tree["buffers"].append({"data": kept})
    name = f"{old['name'] or ''}_sparse"
    tensors.append({**old, "name": name, "buffer": len(tree["buffers"]) - 1, "sparsity": sparsity})
    # The bytes of the dense weight stay if another tensor refers to them.
    users = [row for graph in tree["subgraphs"] for row in graph["tensors"] if row["buffer"] == old["buffer"]]
    if len(users) == 1:
        tree["buffers"][old["buffer"]] = {}
    tensors[weight.tensor.index] = {**old, "buffer": 0}
    return {"opcode_index": code, "inputs": [len(tensors) - 1], "outputs": [weight.tensor.index]}
