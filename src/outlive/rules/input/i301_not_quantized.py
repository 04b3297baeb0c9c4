"""real numbers are given to an input that takes quantized integers

What it checks
    Whether an input of small integers with a scale and a zero point is given floats.

Why it matters
    The runtime refuses floats here, and a plain cast is worse: it cuts 0.7 down to 0, and the model runs on
    nearly nothing, without a word.

What to do
    Quantize the values with the model's own scale and zero point.

Limits
    Integers that were cast and not quantized have the right type: I304 looks for those.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed, quantized
from outlive.units import format_shape


@rule("I301", "not-quantized", Severity.ERROR, since="0.1", cause="not-quantized")
def not_quantized(inputs: Feed) -> Sightings:
    for given in inputs.given:
        parameters = quantized(given.tensor)
        if parameters is None or not given.seen.is_float:
            continue
        scale, zero = parameters
        wanted = f"wanted {format_shape(given.tensor.shape)} {given.tensor.dtype}"
        steps = f"(q {'+' if zero < 0 else '-'} {abs(zero)})" if zero else "q"
        meaning = f"an integer q stands for {scale:.6g} * {steps}"
        name = given.tensor.name
        yield Sighting(
            where=given.place,
            evidence=(Evidence(f"{wanted}; {meaning}", "model"), given.evidence),
            why="the model wants the integers that stand for these numbers, not the numbers",
            remedies=(
                Remedy(
                    "quantize the values with the model's scale and zero point",
                    Tag.SAME_RESULTS,
                    command=f"value = interpreter.quantize_input({name!r}, value)",
                ),
            ),
            fault=Fault.INPUT,
        )
