"""A conversion: what became of the source, what the new model takes and gives."""

from __future__ import annotations

from collections.abc import Iterator

from outlive.quant.conversion import Converted
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
from outlive.units import format_bytes, format_shape, plural


def page(made: Converted) -> Page:
    """The page of a conversion."""
    section = Section(id="model", title="Model", blocks=tuple(_blocks(made)))
    sections = [*findings_sections(made.findings), section]
    return make_page("convert", made.source, _verdict(made), _tiles(made), sections)


def _verdict(made: Converted) -> PageVerdict:
    said = [
        f"{format_bytes(made.file_bytes)}, {plural(made.operators, 'operator')}",
        *([plural(made.samples, "sample")] if made.samples else []),
        f"{made.seconds:.1f} s",
        *([f"written to {made.output_path}"] if made.output_path else []),
    ]
    return PageVerdict(tone=worst_tone(made.findings), word="converted", sentence=", ".join(said))


def _tiles(made: Converted) -> Iterator[Tile]:
    yield Tile(label="file", value=format_bytes(made.file_bytes), note=made.output_path or "")
    yield Tile(label="operators", value=f"{made.operators:,}")


def _blocks(made: Converted) -> Iterator[Block]:
    ends = [("input", tensor) for tensor in made.inputs] + [("output", tensor) for tensor in made.outputs]
    yield Table(
        id="ends",
        caption="Inputs and outputs",
        columns=(
            Column(title=""),
            Column(title="name", kind="mono", wide=True),
            Column(title="shape", kind="mono"),
            Column(title="type", kind="mono"),
        ),
        rows=[(what, tensor.name, format_shape(tensor.shape), tensor.dtype) for what, tensor in ends],
    )
    if made.settings:
        yield Table(
            id="settings",
            caption="Settings of the converter",
            columns=(Column(title="setting", kind="mono"), Column(title="value", kind="mono", wide=True)),
            rows=[(name, str(value)) for name, value in made.settings.items()],
            detail=1,
        )
