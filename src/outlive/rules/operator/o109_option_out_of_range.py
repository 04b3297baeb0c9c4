"""Invalid operator option

What it checks
    Strides, dilations, windows, counts, axes, block sizes and masks in the options of each operator fit
    the shapes and the number of its tensors.

Why it matters
    Some kernels refuse the model. Others divide by zero, or loop past the end of a list of tensors or
    elements.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    Shapes that are known only at run time are not compared.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.option_demands import option_faults
from outlive.rules.operator.prepared import operators_with

RULE = rule("O109", "option-out-of-range", Severity.ERROR, since="0.1", cause="option-out-of-range")(
    operators_with(option_faults, "a tool changed the option, or it belongs to another operator")
)
