"""an operator writes to the tensor it reads from

What it checks
    Operators with one tensor among both their inputs and outputs, unless they work element by element on
    one shape.

Why it matters
    The kernel gives the output another shape or place and so loses its input, or reads what it has just
    written: wrong results, or writes past the end of memory.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    O131 reports what works element by element.
"""

from outlive.model import Model
from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.graph_demands import aliased_outputs, works_in_place
from outlive.rules.operator.prepared import PreparedOperator, operators_of, operators_with


def _kernels(model: Model) -> Iterator[PreparedOperator]:
    return (op for op in operators_of(model) if op.signature is not None and not works_in_place(op))


RULE = rule("O104", "output-aliases-input", Severity.ERROR, since="0.1", cause="tensor-aliased")(
    operators_with(aliased_outputs, "input and output need memory of their own", among=_kernels)
)
