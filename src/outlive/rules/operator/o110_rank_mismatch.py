"""a tensor has a number of dimensions that its kernel does not take

What it checks
    The rank of each input against what the kernel takes, and against the constants that have an entry for
    each dimension.

Why it matters
    Kernels that check refuse the model; others read dimensions that are not there.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Shapes that wait for a run are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.scene import sight_each
from outlive.rules.operator.shape_demands import rank_faults


@rule("O110", "rank-mismatch", Severity.ERROR, since="0.1", cause="rank-mismatch")
def rank_mismatch(model: Model) -> Iterator[Sighting]:
    """See the module."""
    yield from sight_each(model, rank_faults, "a dimension was added or lost")
