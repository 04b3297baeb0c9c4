"""no mixture of float and quantized layers met the target

What it checks
    Whether any try came as near to the float model as was asked for, from all layers quantized to all of
    those that hurt in float.

Why it matters
    What was written is the best of the tries, and is not what was asked for.

What to do
    Ask for less, give activations 16 bits, or quantize weights only.

Limits
    Layers are left out in the order of the error that is born in them; another choice may do better.
"""

from outlive.quant import MixedStep, Quantized
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import format_bytes, plural


@rule("Q218", "target-missed", Severity.ERROR, since="0.1")
def target_missed(quantized: Quantized) -> Sightings:
    steps = quantized.steps
    if not steps or any(step.met for step in steps):
        return
    best = max(steps, key=lambda step: -1.0 if step.sqnr_db is None else step.sqnr_db)
    shown = dict.fromkeys((steps[0], best, steps[-1]))
    yield Sighting(
        where=f"recipe {quantized.recipe}",
        evidence=tuple(Evidence(_fact(step), "comparison") for step in shown),
        why="the target asks for more than these layers and types can give",
        remedies=(
            Remedy(
                "give activations 16 bits: 256 times as many steps for the same range",
                Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe static-int16x8 --samples samples.npz -o OUT",
            ),
            Remedy(
                "quantize weights only",
                Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe weight-only-int8 -o OUT",
            ),
        ),
        fault=Fault.INPUT,
    )


def _fact(step: MixedStep) -> str:
    decibels = "" if step.sqnr_db is None else f", signal to noise {step.sqnr_db:.1f} dB"
    agreement = "" if step.agreement is None else f", same winner {step.agreement:.1%}"
    return f"{plural(len(step.kept), 'layer')} in float: {format_bytes(step.file_bytes)}{decibels}{agreement}"
