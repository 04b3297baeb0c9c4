"""TensorFlow Lite Micro has no kernel for this operator

What it checks
    TensorFlow Lite Micro has a kernel for every operator.

Why it matters
    The interpreter stops at the first operator without a kernel: the model does not run.

What to do
    Replace the operator before conversion, or write and register a kernel for it.

Limits
    The list is that of the TensorFlow Lite Micro version in the plan. A vendor's library may have more
    kernels, and your application may register fewer.
"""

from outlive.arena.plan import Plan
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name
from outlive.units import plural

_SHOWN = 5


@rule("O301", "tflm-lacks-operator", Severity.ERROR, since="0.1")
def tflm_lacks_operator(plan: Plan) -> Sightings:
    missing = [refusal for refusal in plan.refusals if refusal.missing]
    if not missing or plan.accelerator != "tflm":
        return
    kinds = sorted({refusal.type for refusal in missing})
    facts = [
        f"{'' if item.op is None else f'operator {item.op}, '}{item.type}: {item.reason}"
        for item in missing[:_SHOWN]
    ]
    if len(missing) > _SHOWN:
        facts.append(f"{len(missing) - _SHOWN} more")
    yield Sighting(
        value=", ".join(kinds[:_SHOWN]),
        where=file_name(plan.path),
        evidence=tuple(Evidence(fact, "kernels of TensorFlow Lite Micro") for fact in facts),
        why=f"{plural(len(kinds), 'operator type')} without a kernel",
        remedies=(
            Remedy("convert the model without this operator", Tag.CHANGES_MODEL),
            Remedy("write and register a kernel for it", Tag.SAME_RESULTS),
        ),
        fault=Fault.RUNTIME,
    )
