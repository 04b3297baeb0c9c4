"""the shapes of an operator's tensors do not fit each other

What it checks
    Channels, windows, biases, matrix sides, joined and stretched shapes of each operator, as the kernel
    compares them or relies on them.

Why it matters
    Kernels that check refuse the model; others read or write past the end of the smaller tensor.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Shapes that wait for a run are not compared. The shapes that a file gives to tensors in between do not
    count: kernels set them.
"""

from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.prepared import PreparedOperator, operators_with
from outlive.rules.operator.shape_demands import rank_faults, shape_faults
from outlive.rules.operator.size_demands import empty_faults


def _faults(op: PreparedOperator) -> Iterator[str]:
    # Without a side, or with one of no length, nothing fits; other rules report that.
    if not any(rank_faults(op)) and not any(empty_faults(op)):
        yield from shape_faults(op)


RULE = rule("O112", "shape-mismatch", Severity.ERROR, since="0.1", cause="shape-mismatch")(
    operators_with(_faults, "a shape was changed without the others")
)
