"""TensorFlow Lite Micro refuses this operator

What it checks
    Each operator meets the requirements that the kernels of TensorFlow Lite Micro check in Prepare:
    types, constants, ranks.

Why it matters
    A kernel that refuses in Prepare makes AllocateTensors fail: the model does not run, whatever the
    size of the arena.

What to do
    In most cases, quantize the model differently: Micro has no kernels for float inputs with 8-bit
    weights, for uint8, or for shapes that are computed during the run.

Limits
    Requirements that a kernel checks only during the run are not checked here.
"""

from outlive.arena.plan import Plan, Refusal
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name

_SHOWN = 5


@rule("O302", "tflm-refuses-operator", Severity.ERROR, since="0.1")
def tflm_refuses_operator(plan: Plan) -> Sightings:
    refused = [refusal for refusal in plan.refusals if not refusal.missing]
    if not refused or plan.accelerator != "tflm":
        return
    first = refused[0]
    sub = f"subgraph {first.subgraph}, " if first.subgraph else ""
    yield Sighting(
        value=first.reason,
        where=f"{file_name(plan.path)}, {sub}{_place(first)}",
        evidence=tuple(
            Evidence(f"{_place(item)}: {item.reason}", "Prepare of TensorFlow Lite Micro")
            for item in refused[:_SHOWN]
        ),
        why="the kernel refuses in Prepare, whatever the size of the arena",
        remedies=(
            Remedy(
                "convert the model with full integer quantization (int8 inputs, weights and outputs)",
                Tag.CHANGES_RESULTS,
            ),
        ),
        fault=Fault.RUNTIME,
    )


def _place(refusal: Refusal) -> str:
    return "the model" if refusal.op is None else f"operator {refusal.op}, {refusal.type}"
