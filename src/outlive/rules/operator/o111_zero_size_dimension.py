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

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.operator.size_demands import empty_faults

RULE = rule("O111", "zero-size-dimension", Severity.ERROR, since="0.1", cause="zero-size-dimension")(
    operators_with(empty_faults, "a dimension is zero where there must be something")
)
