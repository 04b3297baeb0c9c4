"""a constant has fewer bytes than its shape needs

What it checks
    The bytes of every constant against its shape and type (sparse, string and resource tensors aside).

Why it matters
    Runtimes that check refuse the model; those that do not read past the constant's end.

What to do
    Fetch or convert the model again.

Limits
    More bytes than needed are allowed, as in the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F119", "short-constant", Severity.ERROR, since="0.1", cause="shape-mismatch")
def short_constant(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = "the shape, the type or the buffer of the constant was changed without the others"
    again = Remedy(action="fetch or convert the model again", tag=Tag.SAME_RESULTS)
    yield from sight_flaws(file, "short-constant", why, (again,))
