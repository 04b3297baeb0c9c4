"""an operator lacks a tensor that it cannot do without

What it checks
    Left-out tensors (-1) among the inputs and outputs of each operator, against those that its kernel can
    do without.

Why it matters
    Kernels take such a tensor without looking: the process dies when the model is allocated.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    Operators that LiteRT has no kernel for, and custom ones, are not looked at.
"""

from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.prepared import PreparedOperator, operators_of, operators_with


def _faults(op: PreparedOperator) -> Iterator[str]:
    yield from (f"{slot} is left out (-1)" for slot in op.missing_slots())


RULE = rule("O102", "required-tensor-missing", Severity.ERROR, since="0.1", cause="required-tensor-missing")(
    operators_with(_faults, "only some tensors of some operators may be left out", among=operators_of)
)
