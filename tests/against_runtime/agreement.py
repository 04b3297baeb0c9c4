"""Where our reader and LiteRT's interpreter differ on a model, in words."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from outlive.model import Model, Quantization, Sparsity, Subgraph, Tensor
from outlive.units import count_elements

# The interpreter names the numpy type of the arrays it hands out, which has fewer types than the file.
ARRAY_TYPES = {
    "string": "bytes",
    "resource": "object",
    "variant": "object",
    "int4": "int8",
    "int2": "int8",
    "uint4": "uint8",
    "float8_e4m3fn": "int8",
    "float8_e5m2": "int8",
}
# `_get_tensor_details` raises for it, as numpy has no such type.
REFUSED_TYPES = {"bfloat16"}
NOT_QUANTIZED = {"scales": [], "zero_points": [], "quantized_dimension": 0, "block_size": 0}


def differences(model: Model, runtime: Mapping[str, Any]) -> list[str]:
    """Everything on which our model and the interpreter's answers do not agree."""
    main = model.subgraphs[0]
    ours = {
        "inputs": list(main.input_indices),
        "outputs": list(main.output_indices),
        "subgraphs": len(model.subgraphs),
        "operators": [
            {"name": op.name, "inputs": list(op.inputs), "outputs": list(op.outputs)} for op in main.operators
        ],
        "signatures": {
            signature.key: {"inputs": dict(signature.inputs), "outputs": dict(signature.outputs)}
            for signature in model.signatures
        },
    }
    theirs = {**runtime, "subgraphs": len(runtime["tensors"])}
    found = [d for key in ours for d in unequal(ours[key], theirs[key], key)]
    for graph, tensors in zip(model.subgraphs, runtime["tensors"], strict=False):
        found += _tensor_differences(graph, tensors)
    return found


def unequal(ours: Any, theirs: Any, where: str) -> list[str]:
    """The leaves on which two JSON trees differ; NaN equals NaN, and 0 is not 0.0."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = [*ours, *(key for key in theirs if key not in ours)]
        return [d for key in keys for d in unequal(ours.get(key), theirs.get(key), f"{where}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs) and ours:
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [d for i, (mine, other) in pairs for d in unequal(mine, other, f"{where}[{i}]")]
    return [] if repr(ours) == repr(theirs) else [f"{where}: ours {ours!r:.100}, LiteRT {theirs!r:.100}"]


def _tensor_differences(graph: Subgraph, tensors: list[dict[str, Any]]) -> list[str]:
    where = f"subgraph {graph.index}"
    found = [
        d
        for tensor, theirs in zip(graph.tensors, tensors, strict=False)
        for d in unequal(as_runtime_says(tensor, graph, theirs), theirs, f"{where}, tensor {tensor.index}")
    ]
    # Some kernels add tensors for themselves as the model is loaded; those come last and have no name.
    own = tensors[len(graph.tensors) :]
    if len(tensors) < len(graph.tensors) or any(tensor.get("name") for tensor in own):
        found.append(f"{where}: ours has {len(graph.tensors)} tensors, LiteRT {len(tensors)}")
    return found


def as_runtime_says(tensor: Tensor, graph: Subgraph, theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Our tensor in the interpreter's words. All that is normalised for the comparison is normalised here."""
    if tensor.dtype in REFUSED_TYPES:
        return {"refused": theirs.get("refused")}
    quantization = _quantization(tensor.quantization, graph)
    scales, zero_points = quantization["scales"], quantization["zero_points"]
    is_per_tensor = len(scales) == len(zero_points) == 1
    return {
        "name": tensor.name,
        "index": tensor.index,
        "shape": list(tensor.shape),
        # Without a signature of its own a tensor's shape stands for it.
        "shape_signature": list(tensor.shape_signature or tensor.shape),
        "dtype": ARRAY_TYPES.get(tensor.dtype, tensor.dtype),
        # The old pair is filled for one scale only.
        "quantization": [scales[0], zero_points[0]] if is_per_tensor else [0.0, 0],
        "quantization_parameters": quantization,
        "sparsity_parameters": _sparsity(tensor.sparsity),
        "value": _value(tensor, theirs),
    }


def _quantization(quantization: Quantization | None, graph: Subgraph) -> dict[str, Any]:
    # Several axes are new to the schema, and this interpreter does not report them.
    if quantization is None or quantization.kind == "multi-axis":
        return NOT_QUANTIZED
    if quantization.kind == "blockwise":
        return _blocks(quantization, graph)
    if not quantization.scales:
        return NOT_QUANTIZED
    return {
        "scales": list(quantization.scales),
        "zero_points": list(quantization.zero_points),
        "quantized_dimension": quantization.axis,
        "block_size": 0,
    }


def _blocks(quantization: Quantization, graph: Subgraph) -> dict[str, Any]:
    assert quantization.scales_tensor is not None
    assert quantization.zero_points_tensor is not None
    scales = graph.tensors[quantization.scales_tensor].data
    has_zero_points = quantization.zero_points_tensor >= 0
    zero_points = graph.tensors[quantization.zero_points_tensor].data if has_zero_points else None
    return {
        # The interpreter takes the scales' bytes for float16 whatever their tensor's type is.
        "scales": np.frombuffer(scales or b"", np.float16).tolist(),
        "zero_points": np.frombuffer(zero_points or b"", np.int32).tolist(),
        "quantized_dimension": quantization.axis,
        "block_size": quantization.block_size,
    }


def _sparsity(sparsity: Sparsity | None) -> dict[str, Any]:
    if sparsity is None:
        return {}
    levels: list[dict[str, Any]] = [
        {"format": 0, "dense_size": level.dense_size}
        if level.format == "DENSE"
        else {"format": 1, "array_segments": list(level.segments), "array_indices": list(level.indices)}  # type: ignore[arg-type]
        for level in sparsity.dimensions
    ]
    said: dict[str, Any] = {"traversal_order": list(sparsity.traversal_order), "dim_metadata": levels}
    return said | ({"block_map": list(sparsity.block_map)} if sparsity.block_map else {})


def _value(tensor: Tensor, theirs: Mapping[str, Any]) -> Any:
    """The checksum of a constant; as LiteRT says where it makes something else of the stored bytes."""
    if tensor.dtype in ARRAY_TYPES or tensor.sparsity or count_elements(tensor.shape) == 0:
        return theirs.get("value")
    if tensor.data is None:
        return None
    array = tensor.array()
    return {"size": array.nbytes, "crc": zlib.crc32(array.tobytes())}
