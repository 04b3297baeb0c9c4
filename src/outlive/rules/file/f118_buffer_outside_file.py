"""data kept after the model's tables does not lie in the file

What it checks
    Offset and size of every buffer and of custom options that are stored behind the FlatBuffer, as
    large models do.

Why it matters
    The runtime adds offset and size without a check for overflow and reads wherever they point: a
    segmentation fault.

What to do
    Compare the size with the source and fetch the file again.

Limits
    None known.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F118", "buffer-outside-file", Severity.ERROR, since="0.1")
def buffer_outside_file(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = f"the file has {file.file_bytes:,} bytes; the data would lie beyond them"
    again = Remedy(action="compare its size with the source and fetch it again", tag=Tag.SAME_RESULTS)
    yield from sight_flaws(file, "outside-buffer", why, (again,))
