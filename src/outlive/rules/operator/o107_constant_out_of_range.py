"""a constant points outside what it speaks of

What it checks
    Constants that are axes, orders, indices, sizes, paddings, strides, block sizes and divisors, against
    the shapes they speak of.

Why it matters
    Some kernels check and refuse; others read and write at the place that the constant names, or divide
    by zero.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Only values that the file decides, and shapes that do not wait for a run. Integers only, up to 1,024
    of them.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.constant_demands import constant_faults
from outlive.rules.operator.prepared import operators_with

RULE = rule("O107", "constant-out-of-range", Severity.ERROR, since="0.1", cause="constant-out-of-range")(
    operators_with(constant_faults, "the constant was changed, or made for another shape")
)
