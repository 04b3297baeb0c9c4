"""Custom operator without a kernel

What it checks
    LiteRT has a kernel for each custom operator. For known operators, the finding names the library
    that has the kernel.

Why it matters
    The model loads, and allocate_tensors() refuses it: "Encountered unresolved custom op".

What to do
    Use the library that has the operator, register your own kernel (custom_op_registerers), or convert
    the model without the operator.

Limits
    The file does not show whether you register a kernel. If you do, ignore this finding. Operators that
    XNNPACK supports count as resolved; without XNNPACK they are not.
"""

from outlive.kernels.litert.custom import CUSTOM_KERNELS
from outlive.model import Model
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.operator.operator_kinds import IN_XNNPACK, flex_name, kinds_of, resolver_of
from outlive.rules.operator.prepared import sight
from outlive.units import plural


@rule("O120", "unresolved-custom-op", Severity.ERROR, since="0.1", cause="unresolved-custom-op")
def unresolved_custom_op(model: Model) -> Sightings:
    for name, op, count in kinds_of(model, lambda operator: operator.is_custom):
        if name in CUSTOM_KERNELS or name in IN_XNNPACK or flex_name(name):
            continue
        known = resolver_of(name)
        facts = [f"{name}, used {plural(count, 'time')}; LiteRT has no kernel with this name"]
        action = known or "register a kernel: Interpreter(custom_op_registerers=[...])"
        remedies = (
            Remedy(action, Tag.SAME_RESULTS),
            Remedy("convert the model without the operator", Tag.CHANGES_MODEL),
        )
        yield sight(
            model, op, facts, "the application must provide the kernel of a custom operator", remedies
        )
