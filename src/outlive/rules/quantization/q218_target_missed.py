"""No mix of float and quantized layers met the target

What it checks
    At least one attempt is as close to the float model as requested, from all layers quantized to all
    sensitive layers in float.

Why it matters
    The written file is the best attempt, and misses the target.

What to do
    Lower the target, use 16-bit activations, or quantize only the weights.

Limits
    outlive excludes layers in the order of the error that they add. Another choice may do better.
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
        value=f"best attempt: {_fact(best)}",
        why="the target is beyond these layers and types",
        remedies=(
            Remedy(
                "use 16-bit activations: 256 times as many steps for the same range",
                Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe static-int16x8 --samples samples.npz -o OUT",
            ),
            Remedy(
                "quantize only the weights",
                Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe weight-only-int8 -o OUT",
            ),
        ),
        fault=Fault.INPUT,
    )


def _fact(step: MixedStep) -> str:
    decibels = "" if step.sqnr_db is None else f", SQNR {step.sqnr_db:.1f} dB"
    agreement = "" if step.agreement is None else f", same top-1 {step.agreement:.1%}"
    return f"{plural(len(step.kept), 'layer')} in float, {format_bytes(step.file_bytes)}{decibels}{agreement}"
