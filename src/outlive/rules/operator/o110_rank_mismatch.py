"""Unsupported tensor rank

What it checks
    The kernel supports the rank of each input, and constants with one entry per dimension have as many
    entries as the rank.

Why it matters
    Some kernels refuse the model. Others read dimensions that do not exist.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    Shapes that are known only at run time are not compared.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.operator.shape_demands import rank_faults

RULE = rule("O110", "rank-mismatch", Severity.ERROR, since="0.1", cause="rank-mismatch")(
    operators_with(rank_faults, "a tool added or removed a dimension")
)
