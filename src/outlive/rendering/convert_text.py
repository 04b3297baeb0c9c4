"""A conversion for people and for programs: what became of the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.model import Tensor
from outlive.names import safe
from outlive.quant.converting import Converted
from outlive.rendering.document import Json, document, finding_json
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.model_lists import listing
from outlive.units import format_bytes, format_shape, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAME = 60


def convert_text(made: Converted, path: str | None) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    from rich.text import Text

    told = f"{format_bytes(made.file_bytes)}, {plural(made.operators, 'operator')}"
    where = f", written to {safe(path, 100)}" if path else ""
    yield Text.assemble((safe(made.source, 100), "bold"), f": converted, {told}{where}")
    samples = f"{plural(made.samples, 'sample')}, " if made.samples else ""
    yield Text(f"{samples}{made.seconds:.1f} s", style="dim")
    table = listing("", "name", "shape", "type")
    for what, tensors in (("input", made.inputs), ("output", made.outputs)):
        for tensor in tensors:
            table.add_row(what, safe(tensor.name, _NAME), format_shape(_shape(tensor)), tensor.dtype)
    yield table
    for finding in made.findings:
        yield rich_finding(finding)


def _shape(tensor: Tensor) -> Sequence[int]:
    """The shape with -1 where the file leaves a size open."""
    return tensor.shape_signature or tensor.shape


def convert_json(made: Converted, path: str | None) -> Json:
    """The document."""
    body: Json = {
        "source": made.source,
        "output": {"path": path, "file_bytes": made.file_bytes},
        "settings": {name: _plain(value) for name, value in made.settings.items()},
        "samples": made.samples,
        "seconds": made.seconds,
        "operators": made.operators,
        "inputs": [_tensor(tensor) for tensor in made.inputs],
        "outputs": [_tensor(tensor) for tensor in made.outputs],
        "findings": [finding_json(item) for item in made.findings],
    }
    return document("convert", body)


def _tensor(tensor: Tensor) -> Json:
    return {"name": tensor.name, "index": tensor.index, "shape": list(_shape(tensor)), "dtype": tensor.dtype}


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
