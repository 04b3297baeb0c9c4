"""the file refers to the same bytes over and over

What it checks
    How much the file unfolds into: an honest file refers to each of its bytes about once.

Why it matters
    A small file built this way would take all memory of whatever reads it: an attack, or heavy damage.

What to do
    Do not use the file.

Limits
    Reading stops when four times the file's size has been decoded.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F121", "overlapping-parts", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")
def overlapping_parts(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = "no converter writes this; reading on would cost far more memory than the file has bytes"
    drop = Remedy(
        action="do not use this file; fetch the model from a source you trust", tag=Tag.CHANGES_MODEL
    )
    yield from sight_flaws(file, "overlap", why, (drop,))
