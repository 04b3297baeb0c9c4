"""Empty tensor where the operator needs elements

What it checks
    No input has a dimension of zero where the kernel reads the first element, divides by a size, or
    requires positive sizes.

Why it matters
    Some kernels refuse the model. Others read an element that does not exist, or divide by zero.

What to do
    Set the dimension to its real size, or resize the input before you allocate tensors.

Limits
    Kernels that accept empty tensors are exempt.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.operator.size_demands import empty_faults

RULE = rule("O111", "zero-size-dimension", Severity.ERROR, since="0.1", cause="zero-size-dimension")(
    operators_with(empty_faults, "the kernel needs at least one element")
)
