"""TensorFlow Lite Micro has no kernel for an operator of the model

What it checks
    Every operator against the kernels of TensorFlow Lite Micro.

Why it matters
    The interpreter stops at the first operator that its resolver does not know: the model does not run.

What to do
    Replace the operator before converting, or write a kernel for it and register it.

Limits
    The list is that of one version of TensorFlow Lite Micro, which the plan names. A vendor's library may
    have more kernels, and an application that registers fewer has less.
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
        f"{'' if item.op is None else f'op {item.op} '}{item.type}: {item.reason}"
        for item in missing[:_SHOWN]
    ]
    if len(missing) > _SHOWN:
        facts.append(f"{len(missing) - _SHOWN} more")
    yield Sighting(
        where=file_name(plan.path),
        evidence=tuple(Evidence(fact, "kernels of TensorFlow Lite Micro") for fact in facts),
        why=f"{plural(len(kinds), 'kind')} of operator without a kernel: {', '.join(kinds[:_SHOWN])}",
        remedies=(
            Remedy("convert the model without the operator", Tag.CHANGES_MODEL),
            Remedy("write and register a kernel for it", Tag.SAME_RESULTS),
        ),
        fault=Fault.RUNTIME,
    )
