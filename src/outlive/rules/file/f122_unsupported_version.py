"""the model has a schema version that no runtime reads

What it checks
    That the schema version is 3.

Why it matters
    Runtimes refuse every other version.

What to do
    Convert the model again with a current converter.

Limits
    Versions 0 to 2 are from before 2018.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F122", "unsupported-version", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")
def unsupported_version(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = "it was written by a converter from before 2018, or the number is damaged"
    again = Remedy(action="convert the model again with a current converter", tag=Tag.CHANGES_MODEL)
    yield from sight_flaws(file, "bad-version", why, (again,))
