"""an operator has a tensor of a type that its kernel does not take

What it checks
    The types of all inputs and outputs of each operator, against what its kernel takes in each place, and
    against each other.

Why it matters
    Kernels that check refuse the model. Others take the bytes for what they are not, and read or write
    past the end.

What to do
    Convert the model again, or quantize it otherwise: not every operator has a kernel for every type.

Limits
    Types that a kernel sets itself are left alone. What only XNNPACK takes counts as taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.scene import sight_each
from outlive.rules.operator.type_demands import type_faults


@rule("O106", "tensor-type-mismatch", Severity.ERROR, since="0.1", cause="tensor-type-mismatch")
def tensor_type_mismatch(model: Model) -> Iterator[Sighting]:
    """See the module."""
    why = "the type was changed without the rest, or there is no kernel for this combination"
    yield from sight_each(model, type_faults, why)
