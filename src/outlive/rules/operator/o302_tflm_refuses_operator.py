"""TensorFlow Lite Micro refuses an operator of the model as it is

What it checks
    What the kernels of TensorFlow Lite Micro demand when they are prepared: types, constants, ranks.

Why it matters
    A kernel that refuses in Prepare ends AllocateTensors: the model does not run, however large the arena.

What to do
    Usually the model has to be quantized otherwise: Micro has no kernels for float inputs with 8-bit weights,
    for uint8, and for shapes that are computed while the model runs.

Limits
    What a kernel refuses only when it runs is not seen here.
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
        where=f"{file_name(plan.path)}, {sub}{_place(first)}",
        evidence=tuple(
            Evidence(f"{_place(item)}: {item.reason}", "Prepare of TensorFlow Lite Micro")
            for item in refused[:_SHOWN]
        ),
        why="the kernel says no when it is prepared, so that no arena is large enough",
        remedies=(
            Remedy(
                "convert anew with full integer quantization (int8 inputs, weights and outputs)",
                Tag.CHANGES_RESULTS,
            ),
        ),
        fault=Fault.RUNTIME,
    )


def _place(refusal: Refusal) -> str:
    return "the model" if refusal.op is None else f"op {refusal.op} {refusal.type}"
