"""The model as JSON: everything the file says, except the weights themselves."""

from __future__ import annotations

from dataclasses import asdict

from outlive.model import Model, Operator, Quantization, Reading, Sparsity, Subgraph, Tensor
from outlive.model.file_parts import map_bytes
from outlive.rendering.document import Json, document, finding_json
from outlive.rules import Judgement


def reading_json(reading: Reading, judgement: Judgement) -> Json:
    """The document of `outlive read` for one file, readable or not."""
    findings = [finding_json(finding) for finding in judgement.findings]
    if reading.model is None:
        body: Json = {"model": {"path": reading.path, "sha256": None, "file_bytes": reading.file_bytes}}
    else:
        body = _model(reading.model)
    skipped = [asdict(item) for item in judgement.not_checked if "failed" in item.reason]
    return document(
        "read", {**body, "findings": findings, "not_checked": skipped, "flaws": reading.flaw_count}
    )


def readings_json(documents: list[Json]) -> Json:
    """The document of `outlive read` for several files."""
    return document("read", {"files": documents})


def tensor_json(tensor: Tensor) -> Json:
    """A tensor: names as in the contract (`name, index, shape, dtype, quantization`)."""
    return {
        "index": tensor.index,
        "name": tensor.name,
        "dtype": tensor.dtype,
        "shape": tensor.shape,
        "shape_signature": tensor.shape_signature,
        "has_rank": tensor.has_rank,
        "size_bytes": tensor.size_bytes,
        "buffer": tensor.buffer_index,
        "constant_bytes": tensor.stored_bytes if tensor.has_data else None,
        "is_variable": tensor.is_variable,
        "quantization": None if tensor.quantization is None else _quantization(tensor.quantization),
        "sparsity": None if tensor.sparsity is None else _sparsity(tensor.sparsity),
        "variants": [asdict(variant) for variant in tensor.variants],
        "external": None if tensor.external is None else asdict(tensor.external),
    }


def _model(model: Model) -> Json:
    return {
        "model": {"path": model.path, "sha256": model.sha256, "file_bytes": model.file_bytes},
        "schema_version": model.schema_version,
        "description": model.description,
        "min_runtime_version": model.min_runtime_version,
        "conversion": None if model.conversion is None else asdict(model.conversion),
        "inputs": [tensor_json(tensor) for tensor in model.inputs],
        "outputs": [tensor_json(tensor) for tensor in model.outputs],
        "operator_codes": [asdict(code) for code in model.operator_codes],
        "subgraphs": [_subgraph(subgraph) for subgraph in model.subgraphs],
        "signatures": [
            {
                "key": item.key,
                "subgraph": item.subgraph_index,
                "inputs": [{"name": name, "tensor": index} for name, index in item.inputs],
                "outputs": [{"name": name, "tensor": index} for name, index in item.outputs],
            }
            for item in model.signatures
        ],
        "buffers": [
            {
                "index": item.index,
                "offset": item.offset,
                "size_bytes": item.size_bytes,
                "outside": item.outside,
            }
            for item in model.buffers
        ],
        "bytes": [asdict(part) for part in map_bytes(model)],
        "metadata": [
            {"name": item.name, "buffer": item.buffer_index, "size_bytes": item.size_bytes}
            for item in model.metadata
        ],
        "card": None if model.card is None else asdict(model.card),
        "attached_files": [asdict(item) for item in model.attached_files],
    }


def _subgraph(subgraph: Subgraph) -> Json:
    return {
        "index": subgraph.index,
        "name": subgraph.name,
        "inputs": subgraph.input_indices,
        "outputs": subgraph.output_indices,
        "tensors": [tensor_json(tensor) for tensor in subgraph.tensors],
        "operators": [_operator(operator) for operator in subgraph.operators],
        "control_dependencies": subgraph.control_dependencies,
    }


def _operator(operator: Operator) -> Json:
    return {
        "index": operator.index,
        "type": operator.type,
        "name": operator.name,
        "version": operator.version,
        "inputs": operator.inputs,
        "outputs": operator.outputs,
        "intermediates": operator.intermediates,
        "options": None if operator.options is None else dict(operator.options.values),
        "options_table": None if operator.options is None else operator.options.table,
        "custom_options_bytes": None if operator.custom_options is None else operator.custom_options.nbytes,
        "mutating_inputs": operator.mutating_inputs,
    }


def _quantization(quantization: Quantization) -> Json:
    return {
        "kind": quantization.kind,
        "scales": quantization.scales,
        "zero_points": quantization.zero_points,
        "axis": quantization.axis,
        "axes": quantization.axes,
        "block_size": quantization.block_size,
        "block_shape": quantization.block_shape,
        "scales_tensor": quantization.scales_tensor,
        "zero_points_tensor": quantization.zero_points_tensor,
        "minimum": quantization.minimum,
        "maximum": quantization.maximum,
        "custom_bytes": None if quantization.custom is None else quantization.custom.nbytes,
    }


def _sparsity(sparsity: Sparsity) -> Json:
    return {
        "traversal_order": sparsity.traversal_order,
        "block_map": sparsity.block_map,
        "dimensions": [
            {
                "format": item.format,
                "dense_size": item.dense_size,
                "segments": None if item.segments is None else len(item.segments),
                "indices": None if item.indices is None else len(item.indices),
            }
            for item in sparsity.dimensions
        ],
    }
