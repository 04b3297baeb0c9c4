"""the file does not carry the identifier of a TensorFlow Lite model

What it checks
    That bytes 5 to 8 of the file read TFL3.

Why it matters
    Without the identifier the runtime refuses the file; its first bytes were overwritten, or it never
    was a model.

What to do
    Compare size and checksum with the source, and fetch the file again.

Limits
    It does not guess what else the file might be; common formats have findings of their own (F104 to
    F108).
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import file_name


@rule("F109", "no-identifier", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")
def no_identifier(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    if file.identity.kind != "no-identifier":
        return
    yield Sighting(
        where=file_name(file.path),
        evidence=(
            Evidence(fact=f"its first bytes are {file.identity.detail}", source="first bytes"),
            Evidence(fact=f"it has {file.file_bytes:,} bytes", source="file size"),
        ),
        why="a model has 'TFL3' as its fifth to eighth byte",
        remedies=(
            Remedy(action="compare its checksum with the source and fetch it again", tag=Tag.SAME_RESULTS),
        ),
    )
