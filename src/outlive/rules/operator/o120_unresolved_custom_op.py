"""a custom operator has no kernel in the runtime

What it checks
    Custom operators against the ones that LiteRT brings along, and what is known to bring the others.

Why it matters
    The model loads, and is refused when tensors are allocated: Encountered unresolved custom op.

What to do
    Use the library that has the operator, register a kernel of your own (custom_op_registerers), or
    convert the model without it.

Limits
    Whether you register a kernel cannot be seen in the file: if you do, ignore this. Operators that XNNPACK
    takes count as resolved; without it they are not.
"""

from outlive.kernels.litert.custom import CUSTOM_KERNELS
from outlive.model import Model
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.operator.operator_kinds import IN_XNNPACK, flex_name, kinds_of, resolver_of
from outlive.rules.operator.prepared import sight


@rule("O120", "unresolved-custom-op", Severity.ERROR, since="0.1", cause="unresolved-custom-op")
def unresolved_custom_op(model: Model) -> Sightings:
    for name, op, count in kinds_of(model, lambda operator: operator.is_custom):
        if name in CUSTOM_KERNELS or name in IN_XNNPACK or flex_name(name):
            continue
        known = resolver_of(name)
        facts = [f"{count} of it; LiteRT has no kernel of this name"]
        action = known or "register a kernel for it: Interpreter(custom_op_registerers=[...])"
        remedies = (
            Remedy(action, Tag.SAME_RESULTS),
            Remedy("convert the model without the operator", Tag.CHANGES_MODEL),
        )
        yield sight(
            model, op, facts, "an operator is custom if its kernel comes with the application", remedies
        )
