"""Builtin operator without a kernel

What it checks
    LiteRT registers a kernel for each builtin operator.

Why it matters
    The runtime refuses the model when it loads it: the schema has more operators than the runtime
    implements.

What to do
    Convert the model with StableHLO operators lowered to TensorFlow Lite ones, or use a runtime that
    has the kernel.

Limits
    The list is that of the LiteRT version in the finding. A delegate may support the operator.
"""

from outlive.kernels.litert.kernel_signatures import runtime_version, signatures
from outlive.model import Model, Operator
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.operator.operator_kinds import kinds_of
from outlive.rules.operator.prepared import sight
from outlive.units import plural


@rule("O122", "unsupported-op", Severity.ERROR, since="0.1", cause="unsupported-op")
def unsupported_op(model: Model) -> Sightings:
    for name, op, count in kinds_of(model, _has_no_kernel):
        facts = [f"{name}, used {plural(count, 'time')}; {runtime_version()} has no kernel for it"]
        again = Remedy("convert the model again for another target", Tag.CHANGES_MODEL)
        yield sight(model, op, facts, "the schema has the operator, the runtime does not", (again,))


def _has_no_kernel(operator: Operator) -> bool:
    # F114 reports what the schema does not know either.
    unknown = operator.type.startswith("unknown ")
    return not operator.is_custom and not unknown and operator.type not in signatures()
