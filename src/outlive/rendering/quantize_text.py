"""A quantization for people and for programs: what it came to, and what became of each operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlive.names import safe
from outlive.quant.nouns import Quantized
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.model_lists import listing
from outlive.units import format_bytes, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAME = 60


def quantize_text(made: Quantized, path: str | None, every: bool = False) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom; `every` lists all operators."""
    from rich.text import Text

    share = made.file_bytes / max(made.float_bytes, 1)
    sizes = f"{format_bytes(made.float_bytes)} to {format_bytes(made.file_bytes)} ({share:.0%})"
    told = f"{len(made.quantized_layers)} of {plural(len(made.layers), 'operator')} quantized"
    where = f", written to {safe(path, 100)}" if path else ""
    yield Text.assemble((safe(made.recipe, 60), "bold"), f": {sizes}, {told}{where}")
    samples = f"{plural(made.samples, 'sample')}, " if made.samples else ""
    yield Text(f"{samples}{made.seconds:.1f} s", style="dim")
    table = listing("operators", "became", "why not")
    counts = Counter((layer.type, layer.how, layer.why) for layer in made.layers)
    for (kind, how, why), count in counts.most_common():
        table.add_row(f"{count} {safe(kind, 40)}", how, safe(why, 100))
    yield table
    if made.steps:
        yield _steps(made)
    if every:
        listed = listing("op", "type", "layer", "became", "why not")
        for layer in made.layers:
            listed.add_row(
                str(layer.op), layer.type, safe(layer.name, _NAME), layer.how, safe(layer.why, 100)
            )
        yield listed
    for finding in made.findings:
        yield rich_finding(finding)


def _steps(made: Quantized) -> RenderableType:
    """The tries on the way to the target: bytes against loss."""
    users = list(dict.fromkeys(name for step in made.steps for name in step.user_metrics))
    table = listing(
        "float layers", "size", "worst SQNR", "worst agreement", *users, "target", "kept in float"
    )
    for step in made.steps:
        decibels = "" if step.sqnr_db is None else f"{step.sqnr_db:.1f} dB"
        agreement = "" if step.agreement is None else f"{step.agreement:.1%}"
        shown = ", ".join(safe(name, 30) for name in step.kept[:3])
        more = f" and {len(step.kept) - 3} more" if len(step.kept) > 3 else ""
        met = "met" if step.met else "missed"
        size = format_bytes(step.file_bytes)
        own = (f"{step.user_metrics[name]:.5g}" if name in step.user_metrics else "" for name in users)
        table.add_row(str(len(step.kept)), size, decibels, agreement, *own, met, shown + more)
    return table
