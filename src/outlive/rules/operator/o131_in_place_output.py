"""an operator writes over its own input

What it checks
    Operators that work element by element and have one tensor as input and output.

Why it matters
    LiteRT's kernels can do that. A delegate may not, and any other reader of the tensor gets the new
    value.

What to do
    Convert the model again; if a tool edited it, look there.

Limits
    It hurts if another operator needs the old value, or a delegate takes the operator.
"""

from outlive.model import Model
from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.graph_demands import aliased_outputs, works_in_place
from outlive.rules.operator.prepared import PreparedOperator, operators_of, operators_with


def _in_place(model: Model) -> Iterator[PreparedOperator]:
    return filter(works_in_place, operators_of(model))


RULE = rule("O131", "in-place-output", Severity.WARNING, since="0.1", cause="tensor-aliased")(
    operators_with(aliased_outputs, "it hurts if anything else needs the old value", among=_in_place)
)
