"""a tensor has a number of dimensions that its kernel does not take

What it checks
    The rank of each input against what the kernel takes, and against the constants that have an entry for
    each dimension.

Why it matters
    Kernels that check refuse the model; others read dimensions that are not there.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Shapes that wait for a run are not compared.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.operator.prepared import operators_with
from outlive.rules.operator.shape_demands import rank_faults

RULE = rule("O110", "rank-mismatch", Severity.ERROR, since="0.1", cause="rank-mismatch")(
    operators_with(rank_faults, "a dimension was added or lost")
)
