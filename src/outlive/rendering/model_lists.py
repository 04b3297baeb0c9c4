"""Lists of everything: operators, tensors, the graph in the order the runtime runs it, and many files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.model import Model, Operator, Options, Reading, Subgraph, Tensor
from outlive.model.schema import load_schema
from outlive.names import safe
from outlive.rendering.finding_text import count_findings
from outlive.rendering.model_text import heading, quantization_text, shape_text
from outlive.rules import Judgement
from outlive.units import format_bytes, format_shape

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_NAME = 40
_OPTIONS = 160
_NUMBERS = ("op", "tensor", "version", "bytes", "size", "ops", "errors", "warnings", "notes")
# What enums are at by default in options.
_FIRST_NAMES = ("NONE", "FLOAT32", "DEFAULT")


def operator_list(model: Model) -> Iterator[RenderableType]:
    """Every operator with its version, tensors and options."""
    for subgraph in model.subgraphs:
        yield heading(_title("operators", subgraph, model))
        table = listing("op", "type", "version", "inputs", "outputs", "options")
        for operator in subgraph.operators:
            table.add_row(
                str(operator.index),
                safe(operator.name, _NAME),
                str(operator.version),
                _numbers(operator.inputs),
                _numbers(operator.outputs),
                options_text(operator),
            )
        yield table


def tensor_list(model: Model) -> Iterator[RenderableType]:
    """Every tensor with its shape, type, bytes and quantization."""
    for subgraph in model.subgraphs:
        yield heading(_title("tensors", subgraph, model))
        table = listing("tensor", "name", "shape", "type", "bytes", "kind", "quantization")
        ends = (set(subgraph.input_indices), set(subgraph.output_indices))
        for tensor in subgraph.tensors:
            size = tensor.size_bytes
            table.add_row(
                str(tensor.index),
                safe(tensor.name, _NAME),
                shape_text(tensor),
                tensor.dtype,
                "?" if size is None else format_bytes(size),
                _kind(tensor, *ends),
                quantization_text(tensor.quantization),
            )
        yield table


def graph_lines(model: Model) -> Iterator[RenderableType]:
    """One line per operator, in the order the runtime runs them: `name shape <- TYPE(inputs)`."""
    from rich.text import Text

    for subgraph in model.subgraphs:
        yield heading(_title("graph", subgraph, model))
        width = len(str(max(0, len(subgraph.operators) - 1)))
        for operator in subgraph.operators:
            outputs = ", ".join(_tensor(subgraph, index) for index in operator.outputs)
            inputs = ", ".join(_tensor(subgraph, index) for index in operator.inputs)
            called = "".join(f" calls subgraph {index}" for index in operator.subgraphs())
            name = safe(operator.name, _NAME)
            yield Text.assemble(
                (f"  {operator.index:>{width}}  ", "dim"),
                (name, "bold"),
                f"({inputs}) -> {outputs}",
                (called, "dim"),
            )


def file_table(rows: Sequence[tuple[Reading, Judgement]]) -> RenderableType:
    """Several files in one table, a broken one with what is wrong with it."""
    table = listing("file", "size", "inputs", "outputs", "ops", "custom", "weights", "findings")
    for reading, judgement in rows:
        name, model = safe(reading.path or "bytes", 300), reading.model
        if model is None or judgement.errors:
            worst = judgement.errors[0]
            text = f"{worst.code} {worst.headline}"
            table.add_row(name, format_bytes(reading.file_bytes), "", "", "", "", "", text)
        else:
            table.add_row(name, *_file_row(model), count_findings(judgement.findings))
    return table


def options_text(operator: Operator) -> str:
    """The options as `stride_h=2 padding=SAME`; of a custom operator the size of its own."""
    if operator.custom_options is not None:
        return f"{operator.custom_options.nbytes} bytes of its own"
    if operator.options is None:
        return ""
    return safe(" ".join(_option_words(operator.options)), _OPTIONS)


def _option_words(options: Options) -> Iterator[str]:
    """Options that are not at their default; the padding always, because its default is a choice too."""
    usual = {field.name: field.default for field in load_schema().tables[options.table]}
    for name, value in options.values.items():
        if name != "padding" and value in (None, (), usual.get(name), *_FIRST_NAMES):
            continue
        if isinstance(value, memoryview):
            yield f"{name}={value.nbytes} bytes"
        elif isinstance(value, float):
            yield f"{name}={value:.6g}"
        else:
            yield f"{name}={value}"


def _file_row(model: Model) -> tuple[str, ...]:
    sizes: dict[str, int] = {}
    seen = set()
    for tensor in model.tensors():
        if tensor.has_data and tensor.buffer_index not in seen:
            seen.add(tensor.buffer_index)
            sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + tensor.stored_bytes
    operators = list(model.operators())
    return (
        format_bytes(model.file_bytes),
        _ends(model.inputs),
        _ends(model.outputs),
        str(len(operators)),
        ", ".join(sorted({safe(operator.name, 24) for operator in operators if operator.is_custom})[:3]),
        max(sizes, key=lambda dtype: sizes[dtype], default=""),
    )


def _ends(tensors: Sequence[Tensor]) -> str:
    shown = ", ".join(f"{format_shape(tensor.shape)} {tensor.dtype}" for tensor in tensors[:2])
    return shown + (f" and {len(tensors) - 2} more" if len(tensors) > 2 else "")


def _title(what: str, subgraph: Subgraph, model: Model) -> str:
    if len(model.subgraphs) == 1:
        return what
    name = f' "{safe(subgraph.name, _NAME)}"' if subgraph.name else ""
    return f"{what} of subgraph {subgraph.index}{name}"


def listing(*columns: str) -> Table:
    """An empty table without lines; columns of numbers are to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in columns:
        right = column in _NUMBERS
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    return table


def _numbers(indices: Sequence[int]) -> str:
    return " ".join("-" if index == -1 else str(index) for index in indices)


def _kind(tensor: Tensor, inputs: set[int], outputs: set[int]) -> str:
    kinds = (
        ("input", tensor.index in inputs),
        ("output", tensor.index in outputs),
        ("variable", tensor.is_variable),
        ("sparse constant" if tensor.sparsity else "constant", tensor.is_constant),
    )
    return ", ".join(name for name, holds in kinds if holds)


def _tensor(subgraph: Subgraph, index: int) -> str:
    if not 0 <= index < len(subgraph.tensors):
        return "-" if index == -1 else f"tensor {index}?"
    tensor = subgraph.tensors[index]
    return f"{safe(tensor.name, _NAME) or index} {format_shape(tensor.shape)}"
