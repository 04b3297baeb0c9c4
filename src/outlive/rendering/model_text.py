"""The summary of a model that a person likes to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.model import Model, Quantization, Tensor, TensorCard
from outlive.names import safe
from outlive.units import format_bytes, format_shape, plural

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_NAME = 48
_TEXT = 160
_BAR = 24
_BIGGEST = 5


def summary(model: Model) -> Iterator[RenderableType]:
    """The parts of the summary, top to bottom: file, inputs, outputs, operators, bytes, signatures, words."""
    yield from _header(model)
    yield from _tensors("inputs", model.inputs, model.card.inputs if model.card else ())
    yield from _tensors("outputs", model.outputs, model.card.outputs if model.card else ())
    yield from _operators(model)
    yield from _bytes(model)
    yield from _signatures(model)
    yield from _metadata(model)


def heading(title: str, extra: str = "") -> RenderableType:
    """A section's title, with a few words beside it."""
    from rich.text import Text

    return Text.assemble("\n", (title, "bold"), (f"  {extra}" if extra else "", "dim"))


def grid(*columns: str) -> Table:
    """A table without lines; columns are named by how they align: `left`, `right`, `dim`."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(width=0)
    for column in columns:
        style = "dim" if column == "dim" else None
        table.add_column(justify="right" if column == "right" else "left", style=style, overflow="fold")
    return table


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


def _header(model: Model) -> Iterator[RenderableType]:
    from rich.text import Text

    name = safe(model.path, _TEXT) if model.path else "model given as bytes"
    yield Text.assemble(
        (name, "bold"), f"  {format_bytes(model.file_bytes)}", (f"  schema {model.schema_version}", "dim")
    )
    facts = []
    if model.description:
        facts.append(f'"{safe(model.description, _TEXT)}"')
    if model.min_runtime_version:
        facts.append(f"needs runtime {safe(model.min_runtime_version, 32)} or later")
    if model.conversion and model.conversion.tensorflow_version:
        facts.append(f"converted by TensorFlow {safe(model.conversion.tensorflow_version, 32)}")
    if facts:
        yield Text(", ".join(facts))


def _tensors(title: str, tensors: Sequence[Tensor], cards: Sequence[TensorCard]) -> Iterator[RenderableType]:
    yield heading(title, "" if tensors else "none")
    table = grid("left", "left", "left", "dim")
    for position, tensor in enumerate(tensors):
        card = cards[position] if position < len(cards) else None
        notes = [quantization_text(tensor.quantization), _card_text(card)]
        table.add_row(
            "",
            safe(tensor.name, _NAME) or "(no name)",
            shape_text(tensor),
            tensor.dtype,
            "; ".join(filter(None, notes)),
        )
    if tensors:
        yield table


def _card_text(card: TensorCard | None) -> str:
    if card is None:
        return ""
    words = [card.content and f"content {card.content}"]
    if card.mean and card.std:
        words.append(f"normalised by mean {card.mean[0]:g}, std {card.std[0]:g}")
    if card.files:
        words.append(f"labels in {safe(card.files[0], 32)}")
    return ", ".join(filter(None, words))


def _operators(model: Model) -> Iterator[RenderableType]:
    counts = Counter(
        f"{operator.name} (custom)" if operator.is_custom else operator.name for operator in model.operators()
    )
    extra = f"{plural(sum(counts.values()), 'operator')} in {plural(len(model.subgraphs), 'subgraph')}"
    yield heading("operators", extra)
    if not counts:
        return
    table = grid("left", "right", "left")
    most = max(counts.values())
    for name, count in counts.most_common(12):
        table.add_row("", safe(name, _NAME), str(count), _bar(count, most))
    if len(counts) > 12:
        table.add_row(
            "", f"and {len(counts) - 12} other kinds", str(sum(c for _, c in counts.most_common()[12:])), ""
        )
    yield table


def _bytes(model: Model) -> Iterator[RenderableType]:
    yield heading("where the bytes are", f"{format_bytes(model.file_bytes)} in all")
    parts = model.byte_parts
    table = grid("left", "right", "right", "left")
    for part in parts:
        share = part.size_bytes / max(1, model.file_bytes)
        table.add_row(
            "",
            part.what,
            format_bytes(part.size_bytes),
            f"{share:.1%}",
            _bar(part.size_bytes, parts[0].size_bytes),
        )
    yield table
    biggest = _biggest(model)
    if biggest:
        yield heading("biggest constants")
        table = grid("right", "left", "left", "left")
        for tensor in biggest:
            size = tensor.stored_bytes
            table.add_row(
                "", format_bytes(size), safe(tensor.name, _NAME), format_shape(tensor.shape), tensor.dtype
            )
        yield table


def _biggest(model: Model) -> list[Tensor]:
    """The tensors with the largest constants, one for each buffer."""
    found: dict[int, Tensor] = {}
    for tensor in model.tensors():
        if tensor.stored_bytes:
            found.setdefault(tensor.buffer_index, tensor)
    return sorted(found.values(), key=lambda tensor: -(tensor.buffer.size_bytes if tensor.buffer else 0))[
        :_BIGGEST
    ]


def _signatures(model: Model) -> Iterator[RenderableType]:
    if not model.signatures:
        return
    yield heading("signatures")
    table = grid("left", "dim")
    for signature in model.signatures:
        sides = [
            ", ".join(safe(name, 32) for name, _ in side) for side in (signature.inputs, signature.outputs)
        ]
        place = f"subgraph {signature.subgraph_index}" if signature.subgraph_index else ""
        table.add_row("", f"{safe(signature.key, _NAME)}({sides[0]}) -> ({sides[1]})", place)
    yield table


def _metadata(model: Model) -> Iterator[RenderableType]:
    card = model.card
    rows = []
    if card is not None:
        words = (("name", card.name), ("description", card.description), ("version", card.version),
                 ("author", card.author), ("license", card.license))  # fmt: skip
        rows += [(label, safe(text, _TEXT)) for label, text in words if text]
    rows += [
        (safe(entry.name, _NAME), format_bytes(entry.size_bytes))
        for entry in model.metadata
        if entry.name not in ("min_runtime_version", "TFLITE_METADATA", "CONVERSION_METADATA")
    ]
    rows += [
        (f"attached {safe(file.name, _NAME)}", format_bytes(file.size_bytes))
        for file in model.attached_files[:8]
    ]
    if rows:
        yield heading("metadata")
        table = grid("left", "left")
        for label, text in rows:
            table.add_row("", label, text)
        yield table


def _bar(value: int, most: int) -> str:
    """A bar in eighths of a character, so that small shares can still be told apart."""
    eighths = round(8 * _BAR * value / max(1, most))
    return "█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else "")
