"""Required tensor missing

What it checks
    Tensors that are left out (-1) among the inputs and outputs of each operator are optional for its
    kernel.

Why it matters
    Kernels use the tensor without a check: the process crashes when the model is allocated.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    Custom operators, and operators without a LiteRT kernel, are not checked.
"""

from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.prepared import PreparedOperator, operators_of, operators_with


def _faults(op: PreparedOperator) -> Iterator[str]:
    yield from (f"{slot} is -1" for slot in op.missing_slots())


RULE = rule("O102", "required-tensor-missing", Severity.ERROR, since="0.1", cause="required-tensor-missing")(
    operators_with(_faults, "the kernel needs this tensor", among=operators_of)
)
