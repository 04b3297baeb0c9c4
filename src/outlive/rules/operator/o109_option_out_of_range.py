"""an option of an operator has a value its kernel cannot use

What it checks
    Strides, dilations, windows, counts, axes, block sizes and masks in the options of each operator,
    against shapes and counts of its tensors.

Why it matters
    Some kernels check and refuse; others divide by zero, or loop over more tensors or elements than there
    are.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Shapes that wait for a run are not compared.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.option_demands import option_faults
from outlive.rules.operator.prepared import operators_with

RULE = rule("O109", "option-out-of-range", Severity.ERROR, since="0.1", cause="option-out-of-range")(
    operators_with(option_faults, "the option was changed, or belongs to another operator")
)
