"""the runtime has no kernel for a builtin operator

What it checks
    Builtin operators against those that LiteRT registers a kernel for.

Why it matters
    The model is refused when it is loaded: the schema knows more operators than the runtime can run.

What to do
    Convert the model so that StableHLO operators become TensorFlow Lite ones, or take a runtime that has
    the kernel.

Limits
    The list is that of one version of LiteRT, which the finding names. A delegate may take such an
    operator.
"""

from outlive.model import Model, Operator
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.operator.kernel_signatures import runtime_version, signatures
from outlive.rules.operator.operator_kinds import kinds_of
from outlive.rules.operator.prepared import sight


@rule("O122", "unsupported-op", Severity.ERROR, since="0.1", cause="unsupported-op")
def unsupported_op(model: Model) -> Sightings:
    for _, op, count in kinds_of(model, _has_no_kernel):
        facts = [f"{count} of it; {runtime_version()} has no kernel for it"]
        again = Remedy("convert the model again, with another target", Tag.CHANGES_MODEL)
        yield sight(model, op, facts, "the operator is in the schema and not in the runtime", (again,))


def _has_no_kernel(operator: Operator) -> bool:
    # F114 reports what the schema does not know either.
    unknown = operator.type.startswith("unknown ")
    return not operator.is_custom and not unknown and operator.type not in signatures()
