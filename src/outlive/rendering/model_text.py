"""The summary of a model that a person likes to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outlive.model import Quantization, Tensor
from outlive.units import format_shape

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_NAME = 48
_TEXT = 160
_BAR = 24
_BIGGEST = 5


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
