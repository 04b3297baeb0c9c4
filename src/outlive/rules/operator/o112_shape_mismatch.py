"""Mismatched tensor shapes

What it checks
    Channels, windows, biases, matrix dimensions, concatenated and broadcast shapes of each operator
    match, as the kernel requires.

Why it matters
    Some kernels refuse the model. Others read or write past the end of the smaller tensor.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    Shapes that are known only at run time are not compared. Shapes that the file gives to intermediate
    tensors do not count, because kernels set them.
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
    operators_with(_faults, "a tool changed one shape, but not the others")
)
