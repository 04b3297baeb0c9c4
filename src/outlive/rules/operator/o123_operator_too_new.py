"""an operator is of a version that the runtime does not have

What it checks
    The version of each operator against the versions that LiteRT registers a kernel for.

Why it matters
    The model is refused: Didn't find op for builtin opcode, with a remark on an older runtime.

What to do
    Update the runtime, or convert with an older converter.

Limits
    The versions are those of one version of LiteRT, which the finding names; an older runtime has less.
"""

from outlive.model import Model, Operator
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.operator.kernel_signatures import runtime_version, signatures
from outlive.rules.operator.operator_kinds import kinds_of
from outlive.rules.operator.prepared import sight


@rule("O123", "operator-too-new", Severity.ERROR, since="0.1", cause="unsupported-op")
def operator_too_new(model: Model) -> Sightings:
    for _, op, count in kinds_of(model, _is_beyond):
        low, high = signatures()[op.operator.type].versions
        facts = [f"{count} of version {op.operator.version}; {runtime_version()} has {low} to {high}"]
        newer = Remedy("take a newer runtime", Tag.SAME_RESULTS)
        yield sight(model, op, facts, "the converter is newer than the runtime", (newer,))


def _is_beyond(operator: Operator) -> bool:
    known = signatures().get(operator.type)
    return known is not None and not known.versions[0] <= operator.version <= known.versions[1]
