"""What is in the file, as blocks: its inputs and outputs, where its bytes are, every operator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from outlive.accelerators import Coverage
from outlive.arena.plan import Plan
from outlive.model import Model, Operator, Subgraph, Tensor
from outlive.quant.nouns import Drift
from outlive.rendering.bytes_map import map_bytes
from outlive.rendering.model_text import quantization_text, shape_text
from outlive.rendering.page import (
    Block,
    Cell,
    Column,
    Section,
    Table,
    Tile,
)
from outlive.units import format_bytes, format_shape, plural
from outlive.worker.flight import Flight

XNNPACK, KERNELS = "XNNPACK", "LiteRT's kernels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What else is known about operators, by index in the main subgraph: where each runs, and its error."""

    alive: Mapping[int, int] = field(default_factory=dict)
    runs_on: Mapping[int, str] = field(default_factory=dict)
    taken: tuple[tuple[str, frozenset[int]], ...] = ()
    error: Mapping[int, float] = field(default_factory=dict)


def what_is_known(
    plan: Plan | None = None,
    flight: Flight | None = None,
    coverage: Coverage | None = None,
    drift: Drift | None = None,
) -> Beside:
    """The facts about operators that several rooms have found, side by side."""
    tried = [one for one in coverage.accelerators if one.taken is not None] if coverage else []
    return Beside(
        alive={load.index: load.live_bytes for load in plan.ops} if plan is not None else {},
        runs_on=_runs_on(flight),
        taken=tuple((one.title or one.name, frozenset(one.taken or ())) for one in tried),
        error={row.op: row.blame for row in drift.tensors if row.op is not None and row.born_here is not None}
        if drift is not None
        else {},
    )


def _runs_on(flight: Flight | None) -> dict[int, str]:
    """Who ran each operator, where the run says so of all of them."""
    seen = flight.delegation if flight is not None else None
    if seen is None or len(seen.left) != seen.operators - seen.taken:
        return {}
    left = {index for index, _ in seen.left}
    name = ", ".join(seen.asked) or XNNPACK
    return {index: KERNELS if index in left else name for index in range(seen.operators)}


def model_section(model: Model) -> Section:
    """What a caller has to know: inputs, outputs, and what the file is made of."""
    ends = [("input", item) for item in model.inputs] + [("output", item) for item in model.outputs]
    blocks: list[Block] = [
        Table(
            id="ends",
            caption="Inputs and outputs",
            columns=(
                Column(title="", kind="text"),
                Column(title="name", kind="mono", wide=True),
                Column(title="shape", kind="mono"),
                Column(title="type", kind="mono"),
                Column(title="bytes", kind="bytes"),
                Column(title="quantization", kind="mono"),
            ),
            rows=[_end(role, tensor) for role, tensor in ends],
        ),
        Table(
            id="file-bytes",
            caption="Where the bytes of the file are",
            columns=(
                Column(title="what"),
                Column(title="size", kind="bar"),
                Column(title="share", kind="share"),
                Column(title="count", kind="number"),
            ),
            rows=[
                (part.what, part.size_bytes, part.size_bytes / max(1, model.file_bytes), part.count)
                for part in map_bytes(model)
            ],
        ),
    ]
    return Section(id="model", title="The model", blocks=tuple(blocks), lead=model.description)


def _end(role: str, tensor: Tensor) -> tuple[Cell, ...]:
    how = quantization_text(tensor.quantization)
    return (role, tensor.name, shape_text(tensor), tensor.dtype, tensor.size_bytes, how)


def operators_section(model: Model, known: Beside) -> Section:
    """Every operator in a table; what is known only of the main subgraph stands beside its operators."""
    rows = [
        _operator(subgraph, operator, known)
        for subgraph in model.subgraphs
        for operator in subgraph.operators
    ]
    columns = list(_columns(known))
    if len(model.subgraphs) == 1:
        columns, rows = columns[1:], [row[1:] for row in rows]
    count = plural(len(rows), "operator")
    table = Table(id="ops", caption=f"{count}, in the order they run", columns=tuple(columns), rows=rows)
    return Section(id="operators", title="Operators", blocks=(table,))


def _columns(known: Beside) -> Iterator[Column]:
    yield Column(title="graph", kind="number")
    yield Column(title="op", kind="number")
    yield Column(title="type", kind="mono")
    yield Column(title="output", kind="mono", wide=True)
    yield Column(title="shape", kind="mono")
    yield Column(title="values", kind="mono")
    yield Column(title="output bytes", kind="bytes")
    yield Column(title="weights", kind="bytes")
    if known.alive:
        yield Column(title="alive", kind="bar")
    if known.runs_on:
        yield Column(title="ran on", kind="chip", tones=colours(known.runs_on.values()))
    for number, (name, _) in enumerate(known.taken):
        yield Column(title=name, kind="chip", tones={"takes": str(number % 7), "no": "plain"})
    if known.error:
        yield Column(title="error born here", kind="number")


def _operator(subgraph: Subgraph, operator: Operator, known: Beside) -> list[Cell]:
    outputs = _tensors(subgraph, operator.outputs)
    first = outputs[0] if outputs else None
    sizes = [tensor.size_bytes or 0 for tensor in outputs]
    main, at = subgraph.index == 0, operator.index
    row: list[Cell] = [
        subgraph.index,
        at,
        operator.name,
        first.name if first else "",
        ", ".join(format_shape(tensor.shape) for tensor in outputs[:3]),
        first.dtype if first else "",
        sum(sizes) if sizes else None,
        _weights(subgraph, operator),
    ]
    if known.alive:
        row.append(known.alive.get(at) if main else None)
    if known.runs_on:
        row.append(known.runs_on.get(at) if main else None)
    for _, taken in known.taken:
        row.append(("takes" if at in taken else "no") if main else None)
    if known.error:
        row.append(known.error.get(at) if main else None)
    return row


def _tensors(subgraph: Subgraph, indices: Sequence[int]) -> list[Tensor]:
    return [subgraph.tensors[index] for index in indices if 0 <= index < len(subgraph.tensors)]


def _weights(subgraph: Subgraph, operator: Operator) -> int | None:
    """Bytes of constants that the operator reads; None if it reads none."""
    sizes = [tensor.stored_bytes for tensor in _tensors(subgraph, operator.inputs) if tensor.has_data]
    return sum(sizes) or None


def colours(words: Iterable[str]) -> dict[str, str]:
    """A colour for each word, in the order they come; grey for LiteRT's own kernels."""
    found: dict[str, str] = {}
    for word in words:
        if word not in found:
            found[word] = "plain" if word == KERNELS else str(len(found) % 7)
    return found


def model_tiles(model: Model) -> Iterator[Tile]:
    """How large the file is, and how many operators it has."""
    yield Tile(label="file", value=format_bytes(model.file_bytes), note=f"{model.file_bytes:,} bytes")
    count = sum(len(subgraph.operators) for subgraph in model.subgraphs)
    graphs = plural(len(model.subgraphs), "subgraph")
    yield Tile(label="operators", value=f"{count:,}", note=graphs)
