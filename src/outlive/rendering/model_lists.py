"""Lists of everything in a model: operators, tensors, the graph in the order it runs, weights of zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from outlive.model import Model, Operator, Options, Quantization, Subgraph, Tensor
from outlive.model.schema import load_schema
from outlive.rendering import page as ui
from outlive.units import format_shape

_NAME, _OPTIONS = 40, 160
# What enums are at by default in options.
_FIRST_NAMES = ("NONE", "FLOAT32", "DEFAULT")


def operator_list(model: Model) -> Iterator[ui.Section]:
    """Every operator with its version, tensors and options."""
    columns = ui.columns(
        "op: number | type: mono | version: number | inputs: mono | outputs: mono", "options: mono wide"
    )
    for subgraph in model.subgraphs:
        rows = [
            (
                operator.index,
                operator.name,
                operator.version,
                _numbers(operator.inputs),
                _numbers(operator.outputs),
                options_text(operator),
            )
            for operator in subgraph.operators
        ]
        yield _list("Operators", subgraph, model, columns, rows)


def tensor_list(model: Model) -> Iterator[ui.Section]:
    """Every tensor with its shape, type, bytes and quantization."""
    columns = ui.columns(
        "tensor: number | name: mono wide | shape: mono | type: mono | bytes: bytes | kind",
        "quantization: mono wide",
    )
    for subgraph in model.subgraphs:
        ends = (set(subgraph.input_indices), set(subgraph.output_indices))
        rows = [
            (
                tensor.index,
                tensor.name,
                shape_text(tensor),
                tensor.dtype,
                tensor.size_bytes,
                _kind(tensor, *ends),
                quantization_text(tensor.quantization),
            )
            for tensor in subgraph.tensors
        ]
        yield _list("Tensors", subgraph, model, columns, rows)


def _list(
    what: str,
    subgraph: Subgraph,
    model: Model,
    columns: tuple[ui.Column, ...],
    rows: Sequence[Sequence[ui.Cell]],
) -> ui.Section:
    title = _title(what, subgraph, model)
    ident = f"{what.lower()}-{subgraph.index}"
    table = ui.Table(f"{ident}-list", title, columns, rows, brief=len(rows))
    return ui.Section(ident, title, (table,))


def graph_list(model: Model) -> Iterator[ui.Section]:
    """One line per operator, in the order the runtime runs them: `TYPE(inputs) -> outputs`."""
    for subgraph in model.subgraphs:
        items = []
        width = len(str(max(0, len(subgraph.operators) - 1)))
        for operator in subgraph.operators:
            outputs = ", ".join(_named_tensor(subgraph, index) for index in operator.outputs)
            inputs = ", ".join(_named_tensor(subgraph, index) for index in operator.inputs)
            called = "".join(f" calls subgraph {index}" for index in operator.subgraphs())
            items.append(f"{operator.index:>{width}}  {operator.name}({inputs}) -> {outputs}{called}")
        listing = ui.Listing(tuple(items))
        yield ui.Section(f"graph-{subgraph.index}", _title("Graph", subgraph, model), (listing,))


def _title(what: str, subgraph: Subgraph, model: Model) -> str:
    if len(model.subgraphs) == 1:
        return what
    name = f' "{subgraph.name}"' if subgraph.name else ""
    return f"{what} of subgraph {subgraph.index}{name}"


def sparsity_sections(found: Any) -> list[ui.Section]:
    """The weights with their zeros, the forms side by side, and what that comes to in sentences."""
    share = found.zeros / found.elements if found.elements else 0.0
    beside = f"{share:.1%} of {found.elements:,} are zero." if found.elements else "No constant has 1 KiB."
    columns = ui.columns("zeros: share | in the file: bytes | shape: mono | type: mono | name: mono wide")
    rows = [
        (
            weight.share,
            weight.stored_bytes,
            format_shape(weight.tensor.shape),
            f"{weight.tensor.dtype}, sparse" if weight.is_sparse else weight.tensor.dtype,
            weight.tensor.name,
        )
        for weight in sorted(found.weights, key=lambda weight: -weight.zeros)
    ]
    weights = ui.Table("weights", "Weights", columns, rows)
    worth = (_forms(found), ui.Listing(tuple(_worth(found))))
    how = "Measured." if found.forms[0].measured_peak_bytes else "Planned."
    return [
        ui.Section("weights", "Weights", (weights if rows else ui.Words(beside),), lead=beside),
        ui.Section("worth", "Savings from zeros", worth, lead=how),
    ]


def _forms(found: Any) -> ui.Table:
    ways = [way for way, _ in _peaks(found.forms[0])]
    titles = ("file", "compressed", *(f"RAM, {way}" for way in ways))
    columns = ui.columns("", *(ui.Column(title, "bytes") for title in titles))
    rows = [
        (form.name, form.file_bytes, form.compressed_bytes, *(_known(size) for _, size in _peaks(form)))
        for form in found.forms
    ]
    return ui.Table("forms", "Dense and sparse", columns, rows)


def _known(size: int | None) -> ui.Cell:
    return "unknown" if size is None else size


def _peaks(form: Any) -> Sequence[tuple[str, int | None]]:
    return tuple((form.measured_peak_bytes or form.planned_peak_bytes).items())


def _worth(found: Any) -> Iterator[str]:
    for form in found.forms:
        if form.problem:
            yield f"{form.name}: not measured: {form.problem}"
    first = found.forms[0]
    less = 1 - first.compressed_bytes / max(1, first.file_bytes)
    yield f"compressed for storage, the file is {less:.0%} smaller"
    if len(found.forms) == 1:
        sparse = any(weight.is_sparse for weight in found.weights)
        yield (
            "the weights are already sparse: LiteRT unpacks them into extra memory"
            if sparse
            else "sparse storage makes no weight smaller"
        )
        return
    second = found.forms[1]
    parts = [f"the file is {_change(second.file_bytes, first.file_bytes)}"]
    for (way, now), (_, then) in zip(_peaks(first), _peaks(second), strict=True):
        if now is not None and then is not None:
            parts.append(f"RAM with {way} {_change(then, now)}")
    yield f"with sparse weights {', '.join(parts)}: LiteRT unpacks them before the run"


def _change(then: int, now: int) -> str:
    if then == now:
        return "the same"
    return f"{abs(then - now) / max(1, now):.1%} {'smaller' if then < now else 'larger'}"


def options_text(operator: Operator) -> str:
    """The options as `stride_h=2 padding=SAME`; of a custom operator the size of its own."""
    if operator.custom_options is not None:
        return f"{operator.custom_options.nbytes} bytes of its own"
    if operator.options is None:
        return ""
    return " ".join(_option_words(operator.options))[:_OPTIONS]


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


def _named_tensor(subgraph: Subgraph, index: int) -> str:
    if not 0 <= index < len(subgraph.tensors):
        return "-" if index == -1 else f"tensor {index}?"
    tensor = subgraph.tensors[index]
    return f"{tensor.name[:_NAME] or index} {format_shape(tensor.shape)}"


def shape_text(tensor: Tensor) -> str:
    """A tensor's shape, and its signature where that leaves dimensions open."""
    if tensor.shape_signature and tensor.shape_signature != tensor.shape:
        return f"{format_shape(tensor.shape)} ({format_shape(tensor.shape_signature)})"
    return format_shape(tensor.shape)


def quantization_text(quantization: Quantization | None) -> str:
    """How a tensor is quantized, in a few words."""
    if quantization is None:
        return ""
    scales, zeros = quantization.scales, quantization.zero_points
    if quantization.kind == "per-tensor" and scales:
        return f"scale {scales[0]:.6g}, zero point {zeros[0] if zeros else 'none'}"
    if quantization.kind == "per-channel":
        low, high = min(scales), max(scales)
        return f"{len(scales)} scales {low:.3g} to {high:.3g} along axis {quantization.axis}"
    if quantization.kind == "blockwise":
        return f"blocks of {quantization.block_size} along axis {quantization.axis}"
    if quantization.kind == "range-only" and quantization.minimum and quantization.maximum:
        return f"range {quantization.minimum[0]:.4g} to {quantization.maximum[0]:.4g}, not quantized"
    return quantization.kind
