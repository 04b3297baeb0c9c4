"""Output overwrites an input of the same operator

What it checks
    No operator has the same tensor as input and output, unless it works element by element on one
    shape.

Why it matters
    The kernel resizes or moves the output and loses its input, or it reads values that it has just
    written. The results are wrong, or the kernel writes past the end of memory.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    O131 reports operators that work element by element.
"""

from outlive.model import Model
from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.graph_demands import aliased_outputs, works_in_place
from outlive.rules.operator.prepared import PreparedOperator, operators_of, operators_with


def _kernels(model: Model) -> Iterator[PreparedOperator]:
    return (op for op in operators_of(model) if op.signature is not None and not works_in_place(op))


RULE = rule("O104", "output-aliases-input", Severity.ERROR, since="0.1", cause="tensor-aliased")(
    operators_with(aliased_outputs, "input and output need separate memory", among=_kernels)
)
