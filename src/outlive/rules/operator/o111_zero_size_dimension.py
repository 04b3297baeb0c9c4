"""a tensor that an operator needs has no elements

What it checks
    Inputs with a dimension of zero where the kernel takes the first element, divides by a side, or
    insists on positive sides.

Why it matters
    Kernels that check refuse the model; others read an element that is not there, or divide by zero.

What to do
    Give the dimension its real size, or resize the input before tensors are allocated.

Limits
    Kernels that do nothing when there is nothing to do are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.scene import sight_each
from outlive.rules.operator.size_demands import empty_faults


@rule("O111", "zero-size-dimension", Severity.ERROR, since="0.1", cause="zero-size-dimension")
def zero_size_dimension(model: Model) -> Iterator[Sighting]:
    """See the module."""
    yield from sight_each(model, empty_faults, "a dimension is zero where there must be something")
