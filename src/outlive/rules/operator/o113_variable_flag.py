"""Wrong variable flag on a tensor

What it checks
    States of recurrent operators are variable tensors, and variable tensors have neither a constant
    value nor a dynamic size.

Why it matters
    The runtime refuses the model: a state must keep its memory between runs.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    Resource variables (READ_VARIABLE, ASSIGN_VARIABLE) are a different feature, and are not checked
    here.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.graph_demands import variable_faults
from outlive.rules.operator.prepared import operators_with

RULE = rule("O113", "variable-flag", Severity.ERROR, since="0.1", cause="variable-flag")(
    operators_with(variable_faults, "the flag decides whether the tensor keeps its memory between runs")
)
