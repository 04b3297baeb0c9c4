"""Small healthy models with a bit of everything in them, for damage: made here or shipped by the package."""

from __future__ import annotations

import io
import struct
import zipfile
from functools import cache
from importlib import resources

import flatbuffers  # type: ignore[import-untyped,unused-ignore]
import numpy as np

from outlive.surgery import write


@cache
def specimens() -> tuple[bytes, ...]:
    """Models of a few hundred to a few thousand bytes."""
    made = (write({"version": 3}), plain_model(), busy_model(), write(_busy_tree(), outside=True))
    return made + tuple(data for data in shipped_models() if len(data) < 100_000)


@cache
def shipped_models() -> tuple[bytes, ...]:
    """The demo models inside the package."""
    folder = resources.files("outlive") / "demo_models"
    paths = sorted(folder.iterdir(), key=lambda path: path.name) if folder.is_dir() else []
    return tuple(path.read_bytes() for path in paths if path.name.endswith(".tflite"))


def plain_model() -> bytes:
    """One fully connected layer."""
    tensors: list[dict[str, object]] = [
        {"name": "x", "shape": [1, 4]},
        {"name": "w", "shape": [2, 4], "buffer": 1},
        {"name": "y", "shape": [1, 2]},
    ]
    operator = {"inputs": [0, 1, -1], "outputs": [2], "builtin_options_type": "FullyConnectedOptions",
                "builtin_options": {"fused_activation_function": "RELU"}}  # fmt: skip
    graph = {"tensors": tensors, "inputs": [0], "outputs": [2], "operators": [operator], "name": "main"}
    codes = [{"deprecated_builtin_code": 9, "builtin_code": "FULLY_CONNECTED", "version": 2}]
    buffers = [{}, {"data": np.arange(8, dtype=np.float32)}]
    return write({"version": 3, "operator_codes": codes, "subgraphs": [graph], "buffers": buffers})


def busy_model() -> bytes:
    """Every kind of thing a file can hold, an attached zip archive included."""
    return write(_busy_tree()) + _archive()


def _busy_tree() -> dict[str, object]:
    body = {
        "tensors": [{"name": "c", "shape": [], "type": "BOOL"}],
        "inputs": [0],
        "outputs": [0],
        "name": "body",
    }
    return {
        "version": 3,
        "description": "a bit of everything",
        "operator_codes": [
            {"deprecated_builtin_code": 3, "builtin_code": "CONV_2D", "version": 3},
            {"deprecated_builtin_code": 32, "builtin_code": "CUSTOM", "custom_code": "Thing"},
            {"deprecated_builtin_code": 127, "builtin_code": "STABLEHLO_CONVOLUTION"},
            {"deprecated_builtin_code": 118, "builtin_code": "IF"},
        ],
        "subgraphs": [{**_main_graph(), "name": "main"}, body],
        "buffers": [{}, {"data": bytes(range(64))}, {"data": b"2.17.0\0\0"}, {"data": model_card()},
                    {"data": b"\x01\x02\x01\x00\x02\x00"}, {"data": b""}],
        "metadata": [{"name": "min_runtime_version", "buffer": 2}, {"name": "TFLITE_METADATA", "buffer": 3},
                     {"name": "model_control_dependencies", "buffer": 4}],
        "signature_defs": [{"signature_key": "serve", "subgraph_index": 0,
                            "inputs": [{"name": "x", "tensor_index": 0}],
                            "outputs": [{"name": "y", "tensor_index": 1}]}],
        "external_buffer_groups": [{"name": "far.bin"}],
        "external_buffers": [{"id": 7, "group": 0, "offset": 4, "length": 16, "packing": "none"}],
    }  # fmt: skip


def _main_graph() -> dict[str, object]:
    sparse = {"traversal_order": [0, 1], "block_map": [1], "dim_metadata": [
        {"format": "DENSE", "dense_size": 4},
        {"format": "SPARSE_CSR", "array_segments_type": "Uint8Vector", "array_segments": {"values": [0, 1]},
         "array_indices_type": "Uint16Vector", "array_indices": {"values": [0, 300]}}]}  # fmt: skip
    block = {
        "details_type": "BlockwiseQuantization",
        "details": {"scales": 1, "zero_points": -1, "block_size": 32},
    }
    tensors: list[dict[str, object]] = [
        {"name": "x", "shape": [1, 4, 4, 1], "shape_signature": [-1, 4, 4, 1], "type": "INT8",
         "has_rank": True, "quantization": {"scale": [0.5], "zero_point": [-3], "min": [-1.0], "max": [1.0]}},
        {"name": "w", "shape": [4, 2, 2, 1], "type": "INT8", "buffer": 1,
         "quantization": {"scale": [0.1, 0.2, 0.3, 0.4], "zero_point": [0, 0, 0, 0],
                          "quantized_dimension": 0}},
        {"name": "s", "shape": [4, 4], "buffer": 1, "sparsity": sparse},
        {"name": "b", "shape": [8, 2], "type": "INT4", "buffer": 1, "quantization": block},
        {"name": "v", "shape": [], "type": "VARIANT", "is_variable": True,
         "variant_tensors": [{"shape": [2], "type": "FLOAT32", "has_rank": True}]},
        {"name": "far", "shape": [4], "external_buffer": 7},
        {"name": "text", "shape": [1], "type": "STRING", "buffer": 5},
    ]  # fmt: skip
    operators: list[dict[str, object]] = [
        {"opcode_index": 0, "inputs": [0, 1, -1], "outputs": [2], "builtin_options_type": "Conv2DOptions",
         "builtin_options": {"padding": "VALID", "stride_w": 2, "stride_h": 2,
                             "fused_activation_function": "RELU6"},
         "mutating_variable_inputs": [False, True], "intermediates": [3]},
        {"opcode_index": 1, "inputs": [2], "outputs": [4], "custom_options": b"\x01\x02\x03"},
        {"opcode_index": 2, "inputs": [4], "outputs": [5],
         "builtin_options_2_type": "StablehloConvolutionOptions",
         "builtin_options_2": {"window_strides": [1, 1], "precision_config": ["DEFAULT", "HIGHEST"]}},
        {"opcode_index": 3, "inputs": [5], "outputs": [6], "builtin_options_type": "IfOptions",
         "builtin_options": {"then_subgraph_index": 1, "else_subgraph_index": 1}},
    ]  # fmt: skip
    return {"tensors": tensors, "operators": operators, "inputs": [0], "outputs": [2, 6]}


def model_card() -> bytes:
    """A metadata FlatBuffer with a name and one described input."""
    builder = flatbuffers.Builder(256)
    name, label = builder.CreateString("card"), builder.CreateString("labels.txt")

    def table(slots: int, offsets: dict[int, int]) -> int:
        builder.StartObject(slots)
        for slot, offset in offsets.items():
            builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        return int(builder.EndObject())

    def vector(*offsets: int) -> int:
        builder.StartVector(4, len(offsets), 4)
        for offset in offsets:
            builder.PrependUOffsetTRelative(offset)
        return int(builder.EndVector())

    tensor = table(7, {0: name, 1: name, 2: vector(name, label), 6: vector(table(5, {0: label}))})
    graph = table(10, {0: name, 2: vector(tensor), 3: vector(tensor)})
    builder.Finish(table(8, {0: name, 1: name, 3: vector(graph)}), file_identifier=b"M001")
    return bytes(builder.Output())


def _archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("labels.txt"), "cat\ndog\n")
    return file.getvalue()


def text_model(name: bytes) -> bytes:
    """A model in which every text is `name`."""
    graph = {"tensors": [{"name": name, "shape": [1]}], "inputs": [0], "outputs": [0], "name": name,
             "operators": [{"inputs": [0], "outputs": [0]}]}  # fmt: skip
    signature = {"signature_key": name, "inputs": [{"name": name}], "outputs": [{"name": name}]}
    return write({"version": 3, "description": name, "operator_codes": [{"builtin_code": "CUSTOM",
                  "deprecated_builtin_code": 32, "custom_code": name}], "subgraphs": [graph],
                  "buffers": [{"data": struct.pack("<I", 7)}], "signature_defs": [signature]})  # fmt: skip
