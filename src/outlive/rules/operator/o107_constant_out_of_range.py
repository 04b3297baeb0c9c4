"""Constant out of range

What it checks
    Constants that are axes, permutations, indices, sizes, paddings, strides, block sizes and divisors
    fit the shapes they apply to.

Why it matters
    Some kernels refuse the model. Others read and write at the position in the constant, or divide by
    zero.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    The rule checks integers that are fixed in the file, at most 1,024 of each constant, against shapes
    that are known before a run.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.constant_demands import constant_faults
from outlive.rules.operator.prepared import operators_with

RULE = rule("O107", "constant-out-of-range", Severity.ERROR, since="0.1", cause="constant-out-of-range")(
    operators_with(constant_faults, "a tool changed the constant, or it belongs to another shape")
)
