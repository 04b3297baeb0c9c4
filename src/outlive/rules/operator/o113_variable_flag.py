"""a tensor is marked as variable where it must not be

What it checks
    That states of recurrent operators are variable tensors, and that variables have neither a constant
    value nor a size that only a run knows.

Why it matters
    The runtime refuses the model: a state must keep its memory from one run to the next.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Variables of READ_VARIABLE and ASSIGN_VARIABLE are another thing.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.graph_demands import variable_faults
from outlive.rules.operator.prepared import operators_with

RULE = rule("O113", "variable-flag", Severity.ERROR, since="0.1", cause="variable-flag")(
    operators_with(variable_faults, "the mark decides where the tensor lives between two runs")
)
