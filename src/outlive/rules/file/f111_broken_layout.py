"""the file is not laid out as its format demands

What it checks
    The FlatBuffer layout of every table that is read: field lists inside the file, fields inside their
    table, offsets that lead somewhere, texts with their closing zero.

Why it matters
    The runtime follows these numbers without checking them and reads or writes memory that is not its
    own.

What to do
    Fetch or convert the model again: no converter writes this.

Limits
    It checks the tables of the schema, not the contents of weights.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F111", "broken-layout", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")
def broken_layout(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = "bytes were damaged or changed after the model was written"
    again = Remedy(action="fetch or convert the model again", tag=Tag.SAME_RESULTS)
    yield from sight_flaws(file, "malformed", why, (again,))
