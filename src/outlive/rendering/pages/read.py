"""What is in a file: its inputs and outputs, its operators, where its bytes are; or in many files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from outlive.accelerators import Coverage
from outlive.arena.plan import Plan
from outlive.finding import Finding
from outlive.model import Model, Operator, Signature, Subgraph, Tensor, TensorCard
from outlive.model.file_parts import map_bytes
from outlive.process.flight import Flight
from outlive.quant import Drift
from outlive.rendering import page as ui
from outlive.rendering.finding_text import count_findings
from outlive.rendering.model_lists import (
    graph_list,
    operator_list,
    quantization_text,
    shape_text,
    sparsity_sections,
    tensor_list,
)
from outlive.units import format_bytes, format_shape, plural

XNNPACK, KERNELS = "XNNPACK", "LiteRT's kernels"
_BIGGEST = 5


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


def model_section(model: Model) -> ui.Section:
    """What a caller has to know: inputs, outputs, and what the file is made of."""
    card = model.card
    ends = [_end("input", *pair) for pair in _with_cards(model.inputs, card.inputs if card else ())]
    ends += [_end("output", *pair) for pair in _with_cards(model.outputs, card.outputs if card else ())]
    blocks: list[ui.Block] = [
        ui.Table(
            "ends",
            "Inputs and outputs",
            ui.columns(" | name: mono wide | shape: mono | type: mono | bytes: bytes -v | notes: wide"),
            ends,
        ),
        ui.Table(
            "file-bytes",
            "File contents",
            ui.columns("what | size: bar | share: share | count: number"),
            [
                (part.what, part.size_bytes, part.size_bytes / max(1, model.file_bytes), part.count)
                for part in map_bytes(model)
            ],
        ),
    ]
    return ui.Section("model", "The model", tuple(blocks))


def model_sections(model: Model | None, known: Beside) -> list[ui.Section]:
    """The operators and the model, where a page is about something else; a terminal shows them with -vv."""
    if model is None:
        return []
    return [replace(operators_section(model, known), detail=2), replace(model_section(model), detail=2)]


def _with_cards(
    tensors: Sequence[Tensor], cards: Sequence[TensorCard]
) -> Iterator[tuple[Tensor, TensorCard | None]]:
    for position, tensor in enumerate(tensors):
        yield tensor, cards[position] if position < len(cards) else None


def _end(role: str, tensor: Tensor, card: TensorCard | None) -> tuple[ui.Cell, ...]:
    notes = "; ".join(filter(None, (quantization_text(tensor.quantization), _card_text(card))))
    return (role, tensor.name, shape_text(tensor), tensor.dtype, tensor.size_bytes, notes)


def operators_section(model: Model, known: Beside) -> ui.Section:
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
    table = ui.Table("ops", f"{count}, in execution order", tuple(columns), rows)
    return ui.Section("operators", "Operators", (table,))


def _columns(known: Beside) -> Iterator[ui.Column]:
    yield ui.Column("graph", "number")
    yield ui.Column("op", "number")
    yield ui.Column("type", "mono")
    yield ui.Column("output", "mono", wide=True)
    yield ui.Column("shape", "mono")
    yield ui.Column("values", "mono")
    yield ui.Column("output bytes", "bytes")
    yield ui.Column("weights", "bytes")
    if known.alive:
        yield ui.Column("alive", "bar")
    if known.runs_on:
        yield ui.Column("ran on", "chip", colours(known.runs_on.values()))
    for number, (name, _) in enumerate(known.taken):
        yield ui.Column(name, "chip", {"takes": str(number % 7), "no": "plain"})
    if known.error:
        yield ui.Column("error added here", "number")


def _operator(subgraph: Subgraph, operator: Operator, known: Beside) -> list[ui.Cell]:
    outputs = _tensors(subgraph, operator.outputs)
    first = outputs[0] if outputs else None
    sizes = [tensor.size_bytes or 0 for tensor in outputs]
    main, at = subgraph.index == 0, operator.index
    row: list[ui.Cell] = [
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


def model_tiles(model: Model | None) -> Iterator[ui.Tile]:
    """How large the file is, and how many operators it has; none without a model."""
    if model is None:
        return
    yield ui.Tile("file", format_bytes(model.file_bytes), f"{model.file_bytes:,} bytes")
    count = sum(len(subgraph.operators) for subgraph in model.subgraphs)
    graphs = plural(len(model.subgraphs), "subgraph")
    yield ui.Tile("operators", f"{count:,}", graphs)


def page(result: Any) -> ui.Page:
    """The page of a model, or of the files that `outlive read` was given."""
    if isinstance(result, Model):
        return _model_page(result, summary_sections(result), ())
    (*others, last) = result.files
    if others and not result.shown:
        return _files_page(result.files)
    if others:
        sections = [
            replace(part, title=f"{file.path}: {part.title}")
            for file in result.files
            for part in _file(file, result)
        ]
        return _files_page(result.files, sections)
    if last.reading.model is None or (last.judgement.errors and not result.tolerant):
        return ui.broken_page("read", last.path, last.judgement.findings)
    shown = last.judgement.errors if result.shown else last.judgement.findings
    return _model_page(last.reading.model, _file(last, result), shown)


def _model_page(model: Model, sections: Iterable[ui.Section], findings: Sequence[Finding]) -> ui.Page:
    facts = [f'"{model.description}"'] if model.description else []
    if model.min_runtime_version:
        facts.append(f"needs runtime {model.min_runtime_version} or later")
    if model.conversion and model.conversion.tensorflow_version:
        facts.append(f"converted by TensorFlow {model.conversion.tensorflow_version}")
    count = sum(len(subgraph.operators) for subgraph in model.subgraphs)
    graphs = plural(len(model.subgraphs), "subgraph")
    size = f"{format_bytes(model.file_bytes)}, schema {model.schema_version}"
    word = f"{size}, {plural(count, 'operator')} in {graphs}"
    verdict = ui.PageVerdict("plain", word, ", ".join(facts))
    return ui.make_page("read", model.path, verdict, (), (*sections, *ui.findings_sections(findings)))


def _file(file: Any, result: Any) -> list[ui.Section]:
    """What was asked to be shown of a file; its summary if nothing was."""
    model = file.reading.model
    if model is None or (file.judgement.errors and not result.tolerant):
        return ui.findings_sections(file.judgement.findings)
    lists = {"ops": operator_list, "tensors": tensor_list, "graph": graph_list}
    sections = [section for name, make in lists.items() if name in result.shown for section in make(model)]
    if file.sparsity is not None:
        sections += sparsity_sections(file.sparsity)
    return sections if result.shown else summary_sections(model)


def _files_page(files: Sequence[Any], sections: Sequence[ui.Section] = ()) -> ui.Page:
    columns = ui.columns(
        "file: mono wide | size: bytes | inputs: mono | outputs: mono | ops: number",
        "custom: mono | weights: mono | findings: wide",
    )
    rows = [_file_row(file) for file in files]
    table = ui.Table("files", "Files", columns, rows, brief=len(rows))
    bad = sum(bool(file.judgement.errors) for file in files)
    count = plural(len(files), "file")
    word = f"{bad} of {count} with errors" if bad else f"no error in {count}"
    shown = sections or (ui.Section("files", "Files", (table,)),)
    verdict = ui.PageVerdict("bad" if bad else "good", word)
    return ui.Page(title=plural(len(files), "model"), kind="read", verdict=verdict, sections=tuple(shown))


def _file_row(file: Any) -> Sequence[ui.Cell]:
    model = file.reading.model
    if model is None or file.judgement.errors:
        worst = file.judgement.errors[0]
        return (file.path, file.reading.file_bytes, "", "", None, "", "", f"{worst.code} {worst.headline}")
    sizes: dict[str, int] = {}
    seen = set()
    for tensor in model.tensors():
        if tensor.has_data and tensor.buffer_index not in seen:
            seen.add(tensor.buffer_index)
            sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + tensor.stored_bytes
    operators = list(model.operators())
    return (
        file.path,
        model.file_bytes,
        _ends(model.inputs),
        _ends(model.outputs),
        len(operators),
        ", ".join(sorted({operator.name[:24] for operator in operators if operator.is_custom})[:3]),
        max(sizes, key=lambda dtype: sizes[dtype], default=""),
        count_findings(file.judgement.findings),
    )


def summary_sections(model: Model) -> list[ui.Section]:
    """The summary of a model: inputs and outputs, operators by type, bytes, signatures, metadata."""
    return [
        model_section(model),
        ui.Section("types", "Operators", (_types(model),)),
        ui.Section("more", "More", tuple(_more(model)), detail=1),
    ]


def _types(model: Model) -> ui.Table:
    counts = Counter(
        f"{operator.name} (custom)" if operator.is_custom else operator.name for operator in model.operators()
    )
    columns = ui.columns("type: mono | count: number")
    return ui.Table("op-types", "Operators", columns, counts.most_common())


def _more(model: Model) -> Iterator[ui.Block]:
    columns = ui.columns("size: bytes | name: mono wide | shape: mono | type: mono")
    rows = [
        (tensor.stored_bytes, tensor.name, format_shape(tensor.shape), tensor.dtype)
        for tensor in _biggest(model)
    ]
    if rows:
        yield ui.Table("constants", "Largest constants", columns, rows)
    if model.signatures:
        yield ui.Listing(tuple(map(_signature, model.signatures)), title="Signatures")
    facts = tuple(_metadata(model))
    if facts:
        yield ui.Listing(facts, title="Metadata")


def _signature(signature: Signature) -> str:
    sides = [", ".join(name for name, _ in side) for side in (signature.inputs, signature.outputs)]
    place = f", subgraph {signature.subgraph_index}" if signature.subgraph_index else ""
    return f"{signature.key}({sides[0]}) -> ({sides[1]}){place}"


def _metadata(model: Model) -> Iterator[str]:
    card = model.card
    if card is not None:
        words = (("name", card.name), ("description", card.description), ("version", card.version),
                 ("author", card.author), ("license", card.license))  # fmt: skip
        yield from (f"{label}: {text}" for label, text in words if text)
    shown_elsewhere = ("min_runtime_version", "TFLITE_METADATA", "CONVERSION_METADATA")
    for entry in model.metadata:
        if entry.name not in shown_elsewhere:
            yield f"{entry.name}: {format_bytes(entry.size_bytes)}"
    for file in model.attached_files[:8]:
        yield f"attached {file.name}: {format_bytes(file.size_bytes)}"


def _card_text(card: TensorCard | None) -> str:
    if card is None:
        return ""
    words = [card.content and f"content {card.content}"]
    if card.mean and card.std:
        words.append(f"normalized by mean {card.mean[0]:g}, std {card.std[0]:g}")
    if card.files:
        words.append(f"labels in {card.files[0][:32]}")
    return ", ".join(filter(None, words))


def _biggest(model: Model) -> list[Tensor]:
    """The tensors with the largest constants, one for each buffer."""
    found: dict[int, Tensor] = {}
    for tensor in model.tensors():
        if tensor.stored_bytes:
            found.setdefault(tensor.buffer_index, tensor)
    return sorted(found.values(), key=lambda tensor: -(tensor.buffer.size_bytes if tensor.buffer else 0))[
        :_BIGGEST
    ]


def _ends(tensors: Sequence[Tensor]) -> str:
    shown = ", ".join(f"{format_shape(tensor.shape)} {tensor.dtype}" for tensor in tensors[:2])
    return shown + (f" and {len(tensors) - 2} more" if len(tensors) > 2 else "")
