"""a part that every model must have is missing

What it checks
    That the model has a subgraph and a list of buffers, each subgraph a list of tensors, each custom
    operator and each signature a name.

Why it matters
    The runtime refuses some of these models and follows a null pointer in the others.

What to do
    Fetch or convert the model again.

Limits
    What each operator needs is checked elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F120", "missing-part", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")
def missing_part(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = "the file was written by a tool that left it out, or its tables are damaged"
    again = Remedy(action="fetch or convert the model again", tag=Tag.SAME_RESULTS)
    yield from sight_flaws(file, "missing", why, (again,))
