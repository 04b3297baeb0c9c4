"""the file is of another format than TensorFlow Lite

What it checks
    Whether the first bytes are those of a format that is often mistaken for a model: HDF5, gzip, ONNX,
    pickle, LiteRT-LM and others.

Why it matters
    The runtime says only that the identifier is wrong.

What to do
    Convert or unpack the file with the tool for its format.

Limits
    Only well-known formats are told by name; anything else is reported as F109.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import file_name


@rule("F108", "other-format", Severity.ERROR, since="0.1")
def other_format(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    if file.identity.kind != "other-format":
        return
    yield Sighting(
        where=file_name(file.path),
        evidence=(Evidence(fact=f"it is {file.identity.detail}", source="first bytes"),),
        why="LiteRT reads .tflite files only",
        remedies=(Remedy(action="convert or unpack it with the tool for its format", tag=Tag.SAME_RESULTS),),
    )
