"""Small files whose graph would unfold into something huge: the same bytes are claimed over and over."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from outlive.model.schema import load_schema
from tests.properties.assembly import Assembly, Value


def claims(what: str, count: int = 2**31 - 1) -> bytes:
    """A file that says it has `count` tensors, operators, buffers, subgraphs, dims ... and ends there."""
    at, name = {
        "subgraphs": ("Model", "subgraphs"), "buffers": ("Model", "buffers"),
        "codes": ("Model", "operator_codes"), "signatures": ("Model", "signature_defs"),
        "metadata": ("Model", "metadata"), "description": ("Model", "description"),
        "tensors": ("SubGraph", "tensors"), "operators": ("SubGraph", "operators"),
        "inputs": ("SubGraph", "inputs"), "dims": ("Tensor", "shape"), "name": ("Tensor", "name"),
    }[what]  # fmt: skip
    extra: Mapping[str, Value] = {name: "claim"}
    file = Assembly()
    graphs: Mapping[str, Value] = {} if what == "subgraphs" else {"subgraphs": "graphs"}
    file.table("Model", "root", version=3, **graphs, **(extra if at == "Model" else {}))
    file.vector("graphs", ["graph"])
    tensors: Mapping[str, Value] = {} if what == "tensors" else {"tensors": "tensors"}
    file.table("SubGraph", "graph", **tensors, **(extra if at == "SubGraph" else {}))
    file.vector("tensors", ["tensor"])
    file.table("Tensor", "tensor", **(extra if at == "Tensor" else {}))
    file.raw("claim", struct.pack("<I", count))
    return file.finish()


def shared_subgraphs(size: int) -> bytes:
    """N offsets to the same subgraph, which has N offsets to the same tensor."""
    count = size // 8
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs")
    file.vector("graphs", ["graph"] * count)
    file.table("SubGraph", "graph", tensors="tensors")
    file.vector("tensors", ["tensor"] * count)
    file.table("Tensor", "tensor")
    return file.finish()


def hollow_tensors(size: int) -> bytes:
    """N offsets to the same subgraph, whose N tensors are offsets that lead nowhere."""
    return _hollow(size, 0)


def broken_tensors(size: int) -> bytes:
    """N offsets to the same subgraph, whose N tensors lie past the end."""
    return _hollow(size, 0x7FFFFFFF)


def unlisted_tensors(size: int) -> bytes:
    """N offsets to the same subgraph, whose N tensors have a field list outside the file."""
    return _hollow(size, "bad")


def _hollow(size: int, entry: Value) -> bytes:
    count = size // 8
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs")
    file.vector("graphs", ["graph"] * count)
    file.table("SubGraph", "graph", tensors="tensors")
    file.vector("tensors", [entry] * count)
    file.raw("bad", struct.pack("<i", 0x7FFFFFFF))
    return file.finish()


def shared_tensor(size: int) -> bytes:
    """One subgraph with N offsets to the same tensor."""
    return _one_graph("tensors", "tensor", size, lambda file: file.table("Tensor", "tensor", shape="shape"))


def shared_operator(size: int) -> bytes:
    """One subgraph with N offsets to the same operator with many options, all at their default."""

    def tables(file: Assembly) -> None:
        tag = load_schema().unions["BuiltinOptions2"].index("StablehloConvolutionOptions")
        kinds = {"builtin_options_2_type": bytes([tag, 0, 0, 0]), "builtin_options_2": "options"}
        file.table("Operator", "operator", **kinds)
        file.table("StablehloConvolutionOptions", "options")

    return _one_graph("operators", "operator", size, tables)


def many_inputs(size: int) -> bytes:
    """N operators, in the file once, with N inputs each: reading them all takes N * N steps."""

    def tables(file: Assembly) -> None:
        file.table("Operator", "operator", inputs="numbers")
        file.vector("numbers", [0xFFFFFFFF] * (size // 8))

    return _one_graph("operators", "operator", size // 2, tables)


def many_scales(size: int) -> bytes:
    """N tensors that share per-channel scales of half the file."""

    def tables(file: Assembly) -> None:
        file.table("Tensor", "tensor", quantization="quantization")
        file.table("QuantizationParameters", "quantization", scale="scales", zero_point="scales")
        file.vector("scales", range(1000, 1000 + size // 8))

    return _one_graph("tensors", "tensor", size // 2, tables)


def many_dims(size: int) -> bytes:
    """A tensor whose every dimension is the greatest there is: its size has very many digits."""

    def tables(file: Assembly) -> None:
        file.table("Tensor", "tensor", shape="dims")
        file.vector("dims", [0x7FFFFFFF] * (size // 4))

    return _one_graph("tensors", "tensor", 4, tables)


def many_ones(size: int) -> bytes:
    """N constants that are too short, all with the same shape of very many dimensions."""

    def tables(file: Assembly) -> None:
        file.table("Tensor", "tensor", shape="dims", buffer=1)
        file.vector("dims", [1] * (size // 4 - 500))

    return _one_graph("tensors", "tensor", 2000, tables, buffers=True)


def _one_graph(
    field: str, label: str, size: int, tables: Callable[[Assembly], None], *, buffers: bool = False
) -> bytes:
    file = Assembly()
    extra: Mapping[str, Value] = {"buffers": "buffers"} if buffers else {}
    file.table("Model", "root", version=3, subgraphs="graphs", **extra)
    file.vector("graphs", ["graph"])
    other = "operators" if field == "tensors" else "tensors"
    file.table("SubGraph", "graph", **{field: "items", other: "none"})
    file.vector("items", [label] * (size // 4))
    file.vector("buffers", ["buffer"] * 2)
    file.table("Buffer", "buffer", data="none")
    tables(file)
    file.vector("shape", [1, 8])
    file.vector("none", [])
    return file.finish()


def overlapping_vectors(size: int) -> bytes:
    """N tensors whose shapes begin four bytes after one another, each as long as the file allows."""
    count = size // 40
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs")
    file.vector("graphs", ["graph"])
    file.table("SubGraph", "graph", tensors="items")
    file.vector("items", [f"tensor{index}" for index in range(count)])
    for index in range(count):
        file.table("Tensor", f"tensor{index}", shape=f"dims+{4 * index}")
    file.vector("dims", [300] * (count + 300))
    return file.finish()


def overlapping_small_numbers(size: int) -> bytes:
    """Overlapping vectors of numbers that take two bytes in the file and twenty times that in Python."""
    count = size // 200
    tag = load_schema().unions["SparseIndexVector"].index("Uint16Vector")
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs")
    file.vector("graphs", ["graph"])
    file.table("SubGraph", "graph", tensors="tensors")
    file.vector("tensors", ["tensor"])
    file.table("Tensor", "tensor", sparsity="sparsity")
    file.table("SparsityParameters", "sparsity", dim_metadata="dims")
    file.vector("dims", [f"dim{index}" for index in range(count)])
    for index in range(count):
        kind = bytes([tag, 0, 0, 0])
        file.table(
            "DimensionMetadata", f"dim{index}", array_segments_type=kind, array_segments=f"vector{index}"
        )
    for index in range(count):
        file.table("Uint16Vector", f"vector{index}", values=f"numbers+{4 * index}")
    file.raw("numbers", struct.pack("<I", size // 4) * count + struct.pack("<H", 777) * (size // 4))
    return file.finish()


def own_field_lists(size: int) -> bytes:
    """N tensors, each with a field list of its own that overlaps the others', asked for twice."""
    count = size // 20
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs")
    file.vector("graphs", ["graph"] * 2)
    file.table("SubGraph", "graph", tensors="items")
    file.vector("items", [f"tensors+{8 * index}" for index in range(count)])
    file.mark("tensors")
    for index in range(count):
        # Each table of eight bytes has its list two bytes further on than the one before it.
        file.raw("", struct.pack("<iI", 8 * index - (8 * count + 2 * index), 0x00010001))
    file.raw("lists", struct.pack("<H", 8) * (count + 64))
    return file.finish()


BOMBS: Mapping[str, Callable[[int], bytes]] = {
    bomb.__name__: bomb
    for bomb in (
        shared_subgraphs, hollow_tensors, broken_tensors, unlisted_tensors, shared_tensor, shared_operator,
        many_inputs, many_scales, many_dims, many_ones, overlapping_vectors, overlapping_small_numbers,
        own_field_lists,
    )
}  # fmt: skip
