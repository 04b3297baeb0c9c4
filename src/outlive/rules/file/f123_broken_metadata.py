"""the model's metadata cannot be read in full

What it checks
    The metadata buffers that describe the model (TFLITE_METADATA, CONVERSION_METADATA, control
    dependencies) and the zip archive of attached files.

Why it matters
    The interpreter does not look at them, so the model runs; task libraries that read labels and
    normalisation from them fail.

What to do
    Write the metadata again if a task library needs it.

Limits
    Metadata of a newer version than known here may be reported although it is sound.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F123", "broken-metadata", Severity.WARNING, since="0.1")
def broken_metadata(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = "the metadata was cut off, or written by a tool with another idea of its format"
    yield from sight_flaws(file, "bad-metadata", why)
