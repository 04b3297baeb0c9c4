"""the given values use hardly any of the range of a quantized input

What it checks
    Whether at least 16 values for a quantized input span less than a fiftieth of what it can hold: for 8
    bits at most five steps.

Why it matters
    Numbers from 0 to 1 that were cast to integers and not quantized are all 0 and 1. The model then sees
    next to nothing, and answers nearly the same whatever it is shown.

What to do
    Quantize the values with the model's own scale and zero point instead of casting them; check that they
    are scaled as in training.

Limits
    It does not hurt if the sample is that even: a dark picture, silence.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import LEVELS, Feed, GivenInput, HeldRange, held_range

_LEAST_VALUES = 16
_LEAST_SHARE = 0.02


@rule("I304", "range-hardly-used", Severity.WARNING, since="0.1", cause="not-quantized")
def range_hardly_used(inputs: Feed) -> Sightings:
    for given in inputs.given:
        span = held_range(inputs, given)
        if span is None or given.seen.size < _LEAST_VALUES or given.seen.is_constant:
            continue
        steps, there = _steps(given, span), round((span.high - span.low) / span.scale)
        if steps is not None and steps < _LEAST_SHARE * there:
            yield _sight(given, span, steps, there)


def _steps(given: GivenInput, span: HeldRange) -> float | None:
    """How many steps of the quantization lie between the least and the largest value; None if unknown."""
    seen = given.seen
    if seen.minimum is None or seen.maximum is None:
        return None
    if seen.is_float:
        inside = min(seen.maximum, span.high) - max(seen.minimum, span.low)
        return inside / span.scale if inside >= 0 else None  # beyond the range: I303 says so
    return float(seen.maximum - seen.minimum) if seen.dtype in LEVELS else None


def _sight(given: GivenInput, span: HeldRange, steps: float, there: int) -> Sighting:
    used = f"the values lie within {steps:.3g} of its {there:,} steps"
    quantize = Remedy(
        "if they were cast to integers: quantize the real numbers instead",
        Tag.CHANGES_RESULTS,
        command=f"value = interpreter.quantize_input({given.tensor.name!r}, value)",
    )
    scale = Remedy("scale the values as in training", Tag.CHANGES_RESULTS)
    return Sighting(
        where=given.place,
        evidence=(span.evidence, given.evidence, Evidence(used, "inputs")),
        why="so little of the range is rarely what a model was calibrated with",
        remedies=(scale,) if given.seen.is_float else (quantize, scale),
        confidence="likely",
        fault=Fault.INPUT,
    )
