"""a sparse constant is not described as its reader needs it

What it checks
    The levels, order, blocks, segments and indices of sparse constants against their shapes, and that
    their reader knows sparse tensors.

Why it matters
    The runtime believes the description: kernels follow pointers that are not set, and indices past the
    end.

What to do
    Convert the model again, or without sparsity.

Limits
    Indices are not compared with the sides they count.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.scene import sight_each
from outlive.rules.operator.sparse_demands import sparsity_faults


@rule("O114", "sparsity-metadata", Severity.ERROR, since="0.1", cause="sparsity-metadata")
def sparsity_metadata(model: Model) -> Iterator[Sighting]:
    """See the module."""
    yield from sight_each(model, sparsity_faults, "how a sparse constant is stored is believed unseen")
