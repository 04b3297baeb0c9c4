"""a tensor has an impossible shape

What it checks
    That no dimension is negative and that the bytes of the tensor fit a 63-bit number.

Why it matters
    The runtime refuses such a tensor, or its size wraps around to something small and kernels write
    past its end.

What to do
    Fetch or convert the model again. An open dimension belongs into the shape signature, not into the
    shape.

Limits
    Shapes that fit a 63-bit number but no real machine are a matter of the memory plan.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F117", "impossible-shape", Severity.ERROR, since="0.1", cause="shape-mismatch")
def impossible_shape(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = "the shape was damaged, or a tool wrote an open dimension where a size belongs"
    again = Remedy(action="fetch or convert the model again", tag=Tag.SAME_RESULTS)
    yield from sight_flaws(file, "bad-shape", why, (again,))
