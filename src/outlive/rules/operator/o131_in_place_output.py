"""Operator works in place

What it checks
    No operator that works element by element has the same tensor as input and output.

Why it matters
    LiteRT's kernels support this. A delegate may not, and every other reader of the tensor sees the new
    value.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    The results are wrong only if another operator needs the old value, or if a delegate without support
    for it runs the operator.
"""

from outlive.model import Model
from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.graph_demands import aliased_outputs, works_in_place
from outlive.rules.operator.prepared import PreparedOperator, operators_of, operators_with


def _in_place(model: Model) -> Iterator[PreparedOperator]:
    return filter(works_in_place, operators_of(model))


RULE = rule("O131", "in-place-output", Severity.WARNING, since="0.1", cause="tensor-aliased")(
    operators_with(aliased_outputs, "every other reader of the tensor sees the new value", among=_in_place)
)
