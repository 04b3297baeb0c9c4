"""A quantization: how much of the model it took, what became of its operators, the tries on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from outlive.names import safe
from outlive.quant import MixedStep, Quantized
from outlive.rendering.page import (
    Block,
    Column,
    Page,
    PageVerdict,
    Section,
    Table,
    Tile,
    findings_sections,
    make_page,
    worst_tone,
)
from outlive.units import format_bytes, plural

_KEPT = 3


def page(made: Quantized) -> Page:
    """The page of a quantization."""
    section = Section(id="operators", title="Operators", blocks=tuple(_blocks(made)))
    sections = [*findings_sections(made.findings), section]
    return make_page("quantize", made.source_path, _verdict(made), _tiles(made), sections)


def _verdict(made: Quantized) -> PageVerdict:
    share = made.file_bytes / max(made.float_bytes, 1)
    said = [
        f"{made.recipe}: {format_bytes(made.float_bytes)} to {format_bytes(made.file_bytes)} ({share:.0%})",
        *([plural(made.samples, "sample")] if made.samples else []),
        f"{made.seconds:.1f} s",
        *([f"written to {made.output_path}"] if made.output_path else []),
    ]
    word = f"{len(made.quantized_layers)} of {plural(len(made.layers), 'operator')} quantized"
    return PageVerdict(tone=worst_tone(made.findings), word=word, sentence=", ".join(said))


def _tiles(made: Quantized) -> Iterator[Tile]:
    yield Tile(label="quantized", value=format_bytes(made.file_bytes), note=made.output_path or "")
    yield Tile(label="float", value=format_bytes(made.float_bytes), note=made.source_path or "")
    yield Tile(label="recipe", value=made.recipe, note=plural(made.samples, "sample"))


def _blocks(made: Quantized) -> Iterator[Block]:
    counts = Counter((layer.type, layer.how, layer.why) for layer in made.layers)
    yield Table(
        id="kinds",
        caption="What became of them",
        columns=(
            Column(title="operators", kind="number"),
            Column(title="type", kind="mono"),
            Column(title="became"),
            Column(title="why not", wide=True),
        ),
        rows=[(count, *kind) for kind, count in counts.most_common()],
    )
    if made.steps:
        yield _steps(made.steps)
    yield Table(
        id="layers",
        caption="Every operator",
        columns=(
            Column(title="op", kind="number"),
            Column(title="type", kind="mono"),
            Column(title="layer", kind="mono", wide=True),
            Column(title="became"),
            Column(title="why not", wide=True),
        ),
        rows=[(layer.op, layer.type, layer.name, layer.how, layer.why) for layer in made.layers],
        is_folded=True,
    )


def _steps(steps: tuple[MixedStep, ...]) -> Table:
    """The tries on the way to the target: bytes against loss."""
    users = list(dict.fromkeys(name for step in steps for name in step.user_metrics))
    return Table(
        id="steps",
        caption="Tries on the way to the target",
        columns=(
            Column(title="float layers", kind="number"),
            Column(title="size", kind="bytes"),
            Column(title="worst signal to noise, dB", kind="number"),
            Column(title="worst agreement", kind="share"),
            *(Column(title=name, kind="number") for name in users),
            Column(title="target", kind="chip", tones={"met": "good", "missed": "warn"}),
            Column(title="kept in float", kind="mono", wide=True),
        ),
        rows=[
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
