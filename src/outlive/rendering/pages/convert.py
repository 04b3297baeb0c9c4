"""A conversion: what became of the source, what the new model takes and gives."""

from __future__ import annotations

from collections.abc import Iterator

from outlive.quant.conversion import Converted
from outlive.rendering import page as ui
from outlive.units import format_bytes, format_shape, plural


def page(made: Converted) -> ui.Page:
    """The page of a conversion."""
    section = ui.Section("model", "Model", tuple(_blocks(made)))
    sections = [*ui.findings_sections(made.findings), section]
    return ui.make_page("convert", made.source, _verdict(made), _tiles(made), sections)


def _verdict(made: Converted) -> ui.PageVerdict:
    said = [
        f"{format_bytes(made.file_bytes)}, {plural(made.operators, 'operator')}",
        *([plural(made.samples, "sample")] if made.samples else []),
        f"{made.seconds:.1f} s",
        *([f"written to {made.output_path}"] if made.output_path else []),
    ]
    return ui.PageVerdict(ui.worst_tone(made.findings), "converted", ", ".join(said))


def _tiles(made: Converted) -> Iterator[ui.Tile]:
    yield ui.Tile("file", format_bytes(made.file_bytes), made.output_path or "")
    yield ui.Tile("operators", f"{made.operators:,}")


def _blocks(made: Converted) -> Iterator[ui.Block]:
    ends = [("input", tensor) for tensor in made.inputs] + [("output", tensor) for tensor in made.outputs]
    yield ui.Table(
        "ends",
        "Inputs and outputs",
        ui.columns(" | name: mono wide | shape: mono | type: mono"),
        [(what, tensor.name, format_shape(tensor.shape), tensor.dtype) for what, tensor in ends],
    )
    if made.settings:
        yield ui.Table(
            "settings",
            "Settings of the converter",
            ui.columns("setting: mono | value: mono wide"),
            [(name, str(value)) for name, value in made.settings.items()],
            detail=1,
        )
