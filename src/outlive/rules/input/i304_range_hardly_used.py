"""Values use little of the quantized input range

What it checks
    At least 16 values of a quantized input span more than 2 % of its range: for 8 bits, more than five
    steps.

Why it matters
    Numbers from 0 to 1 that were cast to integers instead of quantized are all 0 or 1. The model sees
    almost nothing, and returns nearly the same result for every input.

What to do
    Quantize the values with the scale and zero point of the input instead of casting them. Check that
    they are scaled as in training.

Limits
    Ignore the finding if the sample really is that uniform: a dark image, silence.
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
    used = f"{steps:.3g} of {there:,} steps"
    quantize = Remedy(
        "quantize the float values instead of casting them to integers",
        Tag.CHANGES_RESULTS,
        command=f"value = interpreter.quantize_input({given.tensor.name!r}, value)",
    )
    scale = Remedy("scale the values as in training", Tag.CHANGES_RESULTS)
    return Sighting(
        where=given.place,
        evidence=(Evidence(used, "inputs"), span.evidence, given.evidence),
        why="models are rarely calibrated for such a small part of the range",
        remedies=(scale,) if given.seen.is_float else (quantize, scale),
        confidence="likely",
        fault=Fault.INPUT,
    )
