"""A quantization: how much of the model it took, what became of its operators, the tries on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from outlive.names import safe
from outlive.quant import MixedStep, Quantized
from outlive.rendering import page as ui
from outlive.units import format_bytes, plural

_KEPT = 3


def page(made: Quantized) -> ui.Page:
    """The page of a quantization."""
    section = ui.Section("operators", "Operators", tuple(_blocks(made)))
    sections = [*ui.findings_sections(made.findings), section]
    return ui.make_page("quantize", made.source_path, _verdict(made), _tiles(made), sections)


def _verdict(made: Quantized) -> ui.PageVerdict:
    share = made.file_bytes / max(made.float_bytes, 1)
    said = [
        f"{made.recipe}: {format_bytes(made.float_bytes)} to {format_bytes(made.file_bytes)} ({share:.0%})",
        *([plural(made.samples, "sample")] if made.samples else []),
        f"{made.seconds:.1f} s",
        *([f"written to {made.output_path}"] if made.output_path else []),
    ]
    word = f"{len(made.quantized_layers)} of {plural(len(made.layers), 'operator')} quantized"
    return ui.PageVerdict(ui.worst_tone(made.findings), word, ", ".join(said))


def _tiles(made: Quantized) -> Iterator[ui.Tile]:
    yield ui.Tile("quantized", format_bytes(made.file_bytes), made.output_path or "")
    yield ui.Tile("float", format_bytes(made.float_bytes), made.source_path or "")
    yield ui.Tile("recipe", made.recipe, plural(made.samples, "sample"))


def _blocks(made: Quantized) -> Iterator[ui.Block]:
    counts = Counter((layer.type, layer.how, layer.why) for layer in made.layers)
    yield ui.Table(
        "kinds",
        "Operators",
        ui.columns("operators: number | type: mono | result | reason: wide"),
        [(count, *kind) for kind, count in counts.most_common()],
    )
    if made.steps:
        yield _steps(made.steps)
    yield ui.Table(
        "layers",
        "Every operator",
        ui.columns("op: number | type: mono | layer: mono wide | result | reason: wide"),
        [(layer.op, layer.type, layer.name, layer.how, layer.why) for layer in made.layers],
        is_folded=True,
    )


def _steps(steps: tuple[MixedStep, ...]) -> ui.Table:
    """The tries on the way to the target: bytes against loss."""
    users = list(dict.fromkeys(name for step in steps for name in step.user_metrics))
    return ui.Table(
        "steps",
        "Attempts",
        ui.columns(
            "float layers: number | size: bytes | worst SQNR, dB: number",
            "worst agreement: share",
            *(ui.Column(name, "number") for name in users),
            ui.Column("target", "chip", {"met": "good", "missed": "warn"}),
            "kept in float: mono wide",
        ),
        [
            (
                len(step.kept),
                step.file_bytes,
                step.sqnr_db,
                step.agreement,
                *(step.user_metrics.get(name) for name in users),
                "met" if step.met else "missed",
                _kept(step),
            )
            for step in steps
        ],
    )


def _kept(step: MixedStep) -> str:
    more = f" and {len(step.kept) - _KEPT} more" if len(step.kept) > _KEPT else ""
    return ", ".join(safe(name, 30) for name in step.kept[:_KEPT]) + more
