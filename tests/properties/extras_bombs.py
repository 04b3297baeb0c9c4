"""Small files whose texts, metadata or attached archive would unfold into something huge."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from outlive.model.schema import load_schema
from tests.properties.assembly import Assembly

_ROWS = 250  # more than the flaws a reading keeps


def overlapping_names(size: int) -> bytes:
    """N signatures whose names begin one after the other in the same bytes."""
    count = size // 80
    names = [f"text+{4 * index}" for index in range(count)]
    file = Assembly()
    file.table("Model", "root", version=3, signature_defs="signatures")
    file.vector("signatures", [f"signature{index}" for index in range(count)])
    for index, name in enumerate(names):
        file.table("SignatureDef", f"signature{index}", signature_key=name)
    file.raw("text", struct.pack("<I", size // 4) * count + b"a" * (size // 4 + 4))
    return file.finish()


def escaped_names(size: int) -> bytes:
    """Overlapping names that take sixteen times their bytes: a wide character, then what is no text."""
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs", signature_defs="signatures")
    file.vector("graphs", ["graph"])
    file.table("SubGraph", "graph", tensors="none")
    file.vector("signatures", [f"signature{index}" for index in range(3)])
    for index in range(3):
        file.table("SignatureDef", f"signature{index}", signature_key=f"text+{4 * index}")
    file.vector("none", [])
    text = "\U0001f600".encode() + b"\xff" * (size - 4)
    file.raw("text", struct.pack("<I", size) * 3 + text + b"\0")
    return file.finish()


def loud_flaws(size: int) -> bytes:
    """Many flaws that each would quote the same name of unprintable characters."""
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs", signature_defs="signatures")
    file.vector("graphs", ["graph"])
    file.table("SubGraph", "graph", tensors="none")
    file.vector("signatures", ["signature"])
    file.table("SignatureDef", "signature", inputs="rows")
    file.vector("rows", ["row"] * _ROWS)
    file.table("TensorMap", "row", name="text", tensor_index=77)
    file.vector("none", [])
    file.raw("text", struct.pack("<I", size) + b"\x01" * size + b"\0")
    return file.finish()


def loud_calls(size: int) -> bytes:
    """Many operators that call a subgraph that is not there, with a custom name as long as the file."""
    tag = load_schema().unions["BuiltinOptions"].index("CallOnceOptions")
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs", operator_codes="codes")
    file.vector("codes", ["code"])
    file.table("OperatorCode", "code", deprecated_builtin_code=32, builtin_code=32, custom_code="text")
    file.vector("graphs", ["graph"])
    file.table("SubGraph", "graph", tensors="none", operators="operators")
    file.vector("operators", ["operator"] * _ROWS)
    file.table("Operator", "operator", builtin_options_type=bytes([tag, 0, 0, 0]), builtin_options="options")
    file.table("CallOnceOptions", "options", init_subgraph_index=9)
    file.vector("none", [])
    file.raw("text", struct.pack("<I", size) + b"n" * size + b"\0")
    return file.finish()


def mild_operators(size: int) -> bytes:
    """N subgraphs, in the file once, of N operators, each with a mild flaw: an unknown option."""
    tag = load_schema().unions["BuiltinOptions"].index("AddOptions")
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs", operator_codes="codes", buffers="none")
    file.vector("codes", ["code"])
    file.table("OperatorCode", "code", version=1)
    file.vector("graphs", ["graph"] * (size // 8))
    file.table("SubGraph", "graph", tensors="none", operators="operators")
    file.vector("operators", ["operator"] * (size // 8))
    file.table("Operator", "operator", builtin_options_type=bytes([tag, 0, 0, 0]), builtin_options="options")
    file.table("AddOptions", "options", fused_activation_function=99)
    file.vector("none", [])
    return file.finish()


def shared_buffers(size: int) -> bytes:
    """N offsets to the same buffer, with N metadata entries that name it."""
    file = Assembly()
    file.table("Model", "root", version=3, buffers="buffers", metadata="entries")
    file.vector("buffers", ["buffer"] * (size // 8))
    file.vector("entries", ["entry"] * (size // 8))
    file.table("Metadata", "entry", name="text")
    file.table("Buffer", "buffer", data="text")
    file.raw("text", struct.pack("<I", 4) + b"name\0")
    return file.finish()


def overlapping_buffers(size: int) -> bytes:
    """N buffers of equal zeros that begin one after the other in the same bytes."""
    count = size // 64
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs", buffers="buffers")
    file.vector("graphs", ["graph"])
    file.table("SubGraph", "graph", tensors="none")
    file.vector("buffers", [f"buffer{index}" for index in range(count)])
    for index in range(count):
        file.table("Buffer", f"buffer{index}", data=f"data+{4 * index}")
    file.vector("none", [])
    # The length of each is among the bytes of those before it, so they end in the same zeros.
    file.raw("data", struct.pack("<I", size // 4) * count + bytes(size // 4))
    return file.finish()


def hollow_card(size: int) -> bytes:
    """A metadata FlatBuffer with N subgraphs, in it once, of N inputs that lead nowhere."""
    return _with_metadata(b"TFLITE_METADATA", _card(size, 0))


def shared_card(size: int) -> bytes:
    """A metadata FlatBuffer with N subgraphs, in it once, of N inputs, in it once."""
    return _with_metadata(b"TFLITE_METADATA", _card(size, "tensor"))


def _card(size: int, entry: int | str) -> bytes:
    file = Assembly("metadata_schema")
    file.table("ModelMetadata", "root", subgraph_metadata="graphs")
    file.vector("graphs", ["graph"] * (size // 8))
    file.table("SubGraphMetadata", "graph", input_tensor_metadata="tensors")
    file.vector("tensors", [entry] * (size // 8))
    file.table("TensorMetadata", "tensor")
    return file.finish()


def control_pairs(size: int) -> bytes:
    """Control dependencies: as many pairs as there is room for."""
    count = size // 2
    return _with_metadata(b"model_control_dependencies", b"\x01\x01" + _varint(count) + bytes(2 * count))


def control_graphs(size: int) -> bytes:
    """Control dependencies for 2^34 subgraphs, each with none."""
    return _with_metadata(b"model_control_dependencies", b"\x01" + _varint(2**34) + bytes(size))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _with_metadata(name: bytes, data: bytes) -> bytes:
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs", buffers="buffers", metadata="entries")
    file.vector("graphs", ["graph"])
    file.vector("buffers", ["buffer"])
    file.vector("entries", ["entry"])
    file.table("SubGraph", "graph", tensors="none")
    file.table("Metadata", "entry", name="name")
    file.table("Buffer", "buffer", data="data")
    file.vector("none", [])
    file.raw("name", struct.pack("<I", len(name)) + name + b"\0")
    file.raw("data", struct.pack("<I", len(data)) + data)
    return file.finish()


def archive_directory(size: int) -> bytes:
    """An attached archive whose directory lists as many empty files as there is room for."""
    count = size // 46
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", *(0,) * 16)
    return _with_archive(entry * count, min(count, 0xFFFF))


def archive_of_great_files(size: int) -> bytes:
    """An attached archive whose few files claim to unpack to four gigabytes each."""
    great = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", *(0,) * 7, 10, 0xFFFFFFFE, 1, *(0,) * 6)
    return _with_archive((great + b"f") * (size // 47), size // 47)


def _with_archive(directory: bytes, count: int) -> bytes:
    model = _with_metadata(b"name", b"")
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(model), 0)
    return model + directory + end


BOMBS: Mapping[str, Callable[[int], bytes]] = {
    bomb.__name__: bomb
    for bomb in (
        overlapping_names, escaped_names, loud_flaws, loud_calls, mild_operators, shared_buffers,
        overlapping_buffers, hollow_card, shared_card, control_pairs, control_graphs, archive_directory,
        archive_of_great_files,
    )
}  # fmt: skip
