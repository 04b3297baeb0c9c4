"""The tree of a file, as the writer takes it: every field of every table, weights still in the file.

    content ──> tree_of ──> {"version": 3, "subgraphs": [{"tensors": [...]}]} ──> write ──> the same model

For files that were read and found sound: `outlive.model` says what is wrong with others.
"""

from typing import Any

from outlive.model.file_bytes import ByteRange, FileBytes
from outlive.model.flatbuffer import FlatBuffer, TableVector
from outlive.model.flaw import FlawLog
from outlive.model.schema import load_schema

Tree = dict[str, Any]

# Offsets 0 and 1 mean "none": LiteRT, tflite/core/interpreter_builder.cc
_FIRST_OFFSET = 2


class UnknownOptions(ValueError):
    """An operator or a tensor has a part of a kind that the schema does not know; it cannot be copied."""


class _Exact(FlatBuffer):
    """Reads texts so that they can be written back byte for byte, be they UTF-8 or not."""

    def string(self, at: int, owner: tuple[str, str]) -> str | None:
        """The text an offset leads to; bytes that are no UTF-8 are escaped as the writer expects them."""
        if super().string(at, owner) is None:
            return None
        start = at + int.from_bytes(self.view[at : at + 4], "little")
        size = int.from_bytes(self.view[start : start + 4], "little")
        return bytes(self.view[start + 4 : start + 4 + size]).decode("utf-8", "surrogateescape")


def tree_of(content: memoryview) -> Tree:
    """Everything the FlatBuffer says, in the schema's words; constants behind it are in `data` as well."""
    flat = _Exact(FileBytes(content), load_schema(), FlawLog())
    tree: Tree = _plain(flat.root("Model"), content)
    for buffer in tree["buffers"] or ():
        _bring_in(buffer, ("data", "offset", "size"), content)
    options = ("custom_options", "large_custom_options_offset", "large_custom_options_size")
    for subgraph in tree["subgraphs"] or ():
        for operator in subgraph["operators"] or ():
            _bring_in(operator, options, content)
    return tree


def _bring_in(record: Tree, names: tuple[str, str, str], content: memoryview) -> None:
    """Put bytes that lie behind the FlatBuffer where the ones inside it would be."""
    inside, offset, size = names
    start = record[offset]
    if record[inside] is None and start >= _FIRST_OFFSET:
        record[inside] = content[start : start + record[size]]
    record[offset] = record[size] = 0


def check_options(operator: Tree, index: int) -> None:
    """`UnknownOptions` if the operator has options that were left behind in reading."""
    for union in ("builtin_options_type", "builtin_options_2_type"):
        if str(operator[union]).startswith("unknown"):
            raise UnknownOptions(
                f"operator {index} has options of a kind this schema does not know ({operator[union]}), "
                "so they cannot be copied"
            )


def check_tensor(tensor: Tree) -> None:
    """`UnknownOptions` if the tensor is quantized or sparse in a way that was left behind in reading."""
    levels = (tensor["sparsity"] or {}).get("dim_metadata") or ()
    tags = [(tensor["quantization"] or {}).get("details_type")]
    tags += [level[f"array_{side}_type"] for level in levels for side in ("segments", "indices")]
    for tag in tags:
        if str(tag).startswith("unknown"):
            raise UnknownOptions(
                f"tensor {str(tensor['name'])[:80]!r} is described in a way this schema does not know "
                f"({tag}), so it cannot be copied"
            )


def _plain(value: Any, content: memoryview) -> Any:
    if isinstance(value, ByteRange):
        return content[value.start : value.stop]
    if isinstance(value, TableVector):
        return [_plain(row, content) for row in value]
    if isinstance(value, dict):
        return {name: _plain(item, content) for name, item in value.items()}
    return value
