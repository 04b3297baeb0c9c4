"""A model in the words of LiteRT's schema module, from our reader and from that module, to be compared."""

from __future__ import annotations

from typing import Any

from outlive.model import Model, Operator, Options, Quantization, Tensor
from outlive.model.schema import load_schema
from tests.against_runtime.runtime_probe import digest

Json = dict[str, Any]
# LiteRT's generated code has no attribute for deprecated fields.
DEPRECATED = {"ResizeBilinearOptions": {"new_height", "new_width"}}


def our_view(model: Model) -> Json:
    """Our model in the field names of the schema module."""
    return {
        "version": model.schema_version,
        "description": model.description,
        "codes": [[code.type, code.custom_name, code.version] for code in model.operator_codes],
        "buffers": [None if b.data is None else digest(b.data) for b in model.buffers],
        "metadata": [[entry.name, entry.buffer_index] for entry in model.metadata],
        "signatures": [
            [signature.key, signature.subgraph_index, dict(signature.inputs), dict(signature.outputs)]
            for signature in model.signatures
        ],
        "subgraphs": [
            {
                "name": graph.name,
                "inputs": list(graph.input_indices),
                "outputs": list(graph.output_indices),
                "tensors": [our_tensor(tensor) for tensor in graph.tensors],
                "operators": [our_operator(operator) for operator in graph.operators],
            }
            for graph in model.subgraphs
        ],
    }


def our_tensor(tensor: Tensor) -> Json:
    sparsity = tensor.sparsity
    return {
        "name": tensor.name,
        "type": tensor.dtype,
        "shape": list(tensor.shape),
        "signature": None if tensor.shape_signature is None else list(tensor.shape_signature),
        "rank": tensor.has_rank,
        "variable": tensor.is_variable,
        "buffer": tensor.buffer_index,
        "quantization": our_quantization(tensor.quantization),
        "sparsity": sparsity
        and [
            list(sparsity.traversal_order),
            list(sparsity.block_map),
            [
                [d.format, d.dense_size, list(d.segments or ()), list(d.indices or ())]
                for d in sparsity.dimensions
            ],
        ],
        "variants": [[variant.dtype, list(variant.shape), variant.has_rank] for variant in tensor.variants],
    }


def our_quantization(quantization: Quantization | None) -> Json | None:
    if quantization is None:
        return None
    return {
        "scale": list(quantization.scales),
        "zero": list(quantization.zero_points),
        "min": list(quantization.minimum),
        "max": list(quantization.maximum),
        "details": [
            quantization.scales_tensor,
            quantization.zero_points_tensor,
            quantization.block_size,
            list(quantization.axes),
            None if quantization.custom is None else digest(quantization.custom),
        ],
        "axis": quantization.axis,
    }


def our_operator(operator: Operator) -> Json:
    custom = operator.custom_options
    return {
        "code": [operator.type, operator.custom_name, operator.version],
        "inputs": list(operator.inputs),
        "outputs": list(operator.outputs),
        "intermediates": list(operator.intermediates),
        "mutating": list(operator.mutating_inputs),
        "options": None if operator.options is None else our_options(operator.options),
        "custom": None if custom is None else digest(custom),
    }


def our_options(options: Options) -> Json:
    hidden = DEPRECATED.get(options.table, set())
    plain: Json = {name: _plain(value) for name, value in options.values.items() if name not in hidden}
    return {"table": options.table, **plain}


def _plain(value: object) -> object:
    if isinstance(value, memoryview):
        return digest(value)
    return list(value) if isinstance(value, tuple) else value


class SchemaView:
    """LiteRT's unpacked model in the same words; enum numbers by the names of its own module."""

    def __init__(self, view: Json) -> None:
        self._enums, self._root = view["enums"], view["model"]
        self._codes = [
            [
                self._name("BuiltinOperator", max(code["builtinCode"], code["deprecatedBuiltinCode"])),
                code["customCode"] or "",
                code["version"],
            ]
            for code in self._root["operatorCodes"] or []
        ]

    def _name(self, enum: str, number: int) -> str:
        return str(self._enums[enum][str(number)])

    def model(self) -> Json:
        root = self._root
        return {
            "version": root["version"],
            "description": root["description"] or "",
            "codes": self._codes,
            "buffers": [buffer["data"] for buffer in root["buffers"]],
            "metadata": [[entry["name"], entry["buffer"]] for entry in root["metadata"] or []],
            "signatures": [
                [row["signatureKey"], row["subgraphIndex"], _names(row["inputs"]), _names(row["outputs"])]
                for row in root["signatureDefs"] or []
            ],
            "subgraphs": [self.subgraph(graph) for graph in root["subgraphs"]],
        }

    def subgraph(self, graph: Json) -> Json:
        return {
            "name": graph["name"] or "",
            "inputs": graph["inputs"] or [],
            "outputs": graph["outputs"] or [],
            "tensors": [self.tensor(tensor) for tensor in graph["tensors"]],
            "operators": [self.operator(operator) for operator in graph["operators"] or []],
        }

    def tensor(self, tensor: Json) -> Json:
        return {
            "name": tensor["name"] or "",
            "type": self._name("TensorType", tensor["type"]).lower(),
            "shape": tensor["shape"] or [],
            "signature": tensor["shapeSignature"],
            "rank": tensor["hasRank"],
            "variable": tensor["isVariable"],
            "buffer": tensor["buffer"],
            "quantization": self.quantization(tensor["quantization"]),
            "sparsity": tensor["sparsity"] and self.sparsity(tensor["sparsity"]),
            "variants": [
                [self._name("TensorType", row["type"]).lower(), row["shape"] or [], row["hasRank"]]
                for row in tensor["variantTensors"] or []
            ],
        }

    def quantization(self, row: Json | None) -> Json | None:
        """None where nothing but the axis is said, for without a scale it means nothing."""
        details = (row or {}).get("details") or {}
        if row is None or not any(row[name] for name in ("scale", "zeroPoint", "min", "max", "details")):
            return None
        return {
            "scale": row["scale"] or [],
            "zero": row["zeroPoint"] or [],
            "min": row["min"] or [],
            "max": row["max"] or [],
            "details": [
                details.get("scales"),
                details.get("zeroPoints"),
                details.get("blockSize", 0),
                details.get("quantizedDimensions") or [],
                details.get("custom"),
            ],
            "axis": row["quantizedDimension"],
        }

    def sparsity(self, row: Json) -> list[Any]:
        levels = [
            [
                self._name("DimensionType", level["format"]),
                level["denseSize"],
                *((level[side] or {}).get("values") or [] for side in ("arraySegments", "arrayIndices")),
            ]
            for level in row["dimMetadata"]
        ]
        return [row["traversalOrder"] or [], row["blockMap"] or [], levels]

    def operator(self, row: Json) -> Json:
        options = row["builtinOptions"] or row["builtinOptions2"]
        return {
            "code": self._codes[row["opcodeIndex"]],
            "inputs": row["inputs"] or [],
            "outputs": row["outputs"] or [],
            "intermediates": row["intermediates"] or [],
            "mutating": row["mutatingVariableInputs"] or [],
            "options": options and self.options(options),
            "custom": row["customOptions"],
        }

    def options(self, row: Json) -> Json:
        fields = {_camel(field.name): field for field in load_schema().tables[row["table"]]}
        said: Json = {"table": row["table"]}
        for attribute, value in row.items():
            field = fields.get(attribute)
            if field is not None:
                said[field.name] = self._value(field.type, value)
            elif attribute != "table":
                said[attribute] = value
        return said

    def _value(self, kind: str, value: Any) -> Any:
        if kind.startswith("[") and isinstance(value, list):
            return [self._value(kind[1:-1], item) for item in value]
        return self._name(kind, value) if kind in self._enums else value


def _names(rows: list[Json] | None) -> dict[str, int]:
    return {row["name"]: row["tensorIndex"] for row in rows or []}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
