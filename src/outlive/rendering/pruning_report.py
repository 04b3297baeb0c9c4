"""What the zeros of a model are worth, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.fitting.pruning import ACCELERATORS, Form, Pruning
from outlive.names import safe
from outlive.rendering.model_text import heading
from outlive.units import format_bytes, format_shape, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_SHOWN = 12
_NAME = 44


def pruning_text(found: Pruning) -> Iterator[RenderableType]:
    """The weights with their zeros, the forms side by side, and what that comes to in a sentence."""
    share = found.zeros / found.elements if found.elements else 0.0
    beside = f"{share:.1%} of {found.elements:,} are zero" if found.elements else "there are none of 1 KiB"
    yield heading("weights", beside)
    yield from _weights(found)
    yield heading("what the zeros are worth", "measured" if found.forms[0].measured_bytes else "planned")
    yield _forms(found)
    yield from _verdict(found)


def _weights(found: Pruning) -> Iterator[RenderableType]:
    from rich.table import Table

    if not found.weights:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
    for title in ("zeros", "in the file"):
        table.add_column(title, justify="right")
    for title in ("shape", "type", "name"):
        table.add_column(title, overflow="fold")
    for weight in sorted(found.weights, key=lambda weight: -weight.zeros)[:_SHOWN]:
        tensor = weight.tensor
        kind = f"{tensor.dtype}, sparse" if weight.is_sparse else tensor.dtype
        shape = format_shape(tensor.shape)
        table.add_row(
            f"{weight.share:.1%}", format_bytes(weight.stored_bytes), shape, kind, safe(tensor.name, _NAME)
        )
    yield table
    if len(found.weights) > _SHOWN:
        yield f"  and {plural(len(found.weights) - _SHOWN, 'other weight')}"


def _forms(found: Pruning) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
    table.add_column("")
    for title in ("file", "compressed", *(f"RAM, {way}" for way in ACCELERATORS)):
        table.add_column(title, justify="right")
    for form in found.forms:
        sizes = [form.file_bytes, form.compressed_bytes, *(size for _, size in _peaks(form))]
        table.add_row(form.name, *("unknown" if size is None else format_bytes(size) for size in sizes))
    return table


def _peaks(form: Form) -> tuple[tuple[str, int | None], ...]:
    return form.measured_bytes or form.planned_bytes


def _verdict(found: Pruning) -> Iterator[str]:
    for form in found.forms:
        if form.problem:
            yield f"  {form.name}: not measured: {safe(form.problem)}"
    first = found.forms[0]
    less = 1 - first.compressed_bytes / max(1, first.file_bytes)
    yield f"  compressed, to be kept or sent, the file is {less:.0%} smaller; to be run it is unpacked again"
    if len(found.forms) == 1:
        sparse = any(weight.is_sparse for weight in found.weights)
        yield (
            "  its weights are stored sparsely already: LiteRT unpacks them into memory of their own"
            if sparse
            else "  no weight of it is smaller when it is stored sparsely"
        )
        return
    second = found.forms[1]
    parts = [f"the file is {_change(second.file_bytes, first.file_bytes)}"]
    for (way, now), (_, then) in zip(_peaks(first), _peaks(second), strict=True):
        if now is not None and then is not None:
            parts.append(f"RAM with {way} {_change(then, now)}")
    yield f"  with sparse weights {', '.join(parts)}: LiteRT unpacks them before it computes"


def _change(then: int, now: int) -> str:
    if then == now:
        return "the same"
    return f"{abs(then - now) / max(1, now):.1%} {'smaller' if then < now else 'larger'}"
