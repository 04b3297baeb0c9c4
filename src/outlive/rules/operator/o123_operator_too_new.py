"""Operator version too new for the runtime

What it checks
    LiteRT registers a kernel for the version of each operator.

Why it matters
    The runtime refuses the model: "Didn't find op for builtin opcode".

What to do
    Update the runtime, or convert the model with an older converter.

Limits
    The versions are those of the LiteRT version in the finding. Older runtimes have fewer.
"""

from outlive.kernels.litert.kernel_signatures import has_kernel, runtime_version, signatures
from outlive.model import Model, Operator
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.operator.operator_kinds import kinds_of
from outlive.rules.operator.prepared import sight


@rule("O123", "operator-too-new", Severity.ERROR, since="0.1", cause="unsupported-op")
def operator_too_new(model: Model) -> Sightings:
    for name, op, _ in kinds_of(model, _is_beyond):
        low, high = signatures()[op.operator.type].versions
        facts = [f"{name} version {op.operator.version}; {runtime_version()} has {low} to {high}"]
        newer = Remedy("install a newer runtime", Tag.SAME_RESULTS)
        yield sight(model, op, facts, "the converter is newer than the runtime", (newer,))


def _is_beyond(operator: Operator) -> bool:
    return operator.type in signatures() and not has_kernel(operator.type, operator.version)
