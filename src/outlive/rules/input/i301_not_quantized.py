"""Float values for a quantized input

What it checks
    A quantized integer input does not receive floats.

Why it matters
    The runtime refuses floats here. A plain cast is worse: it truncates 0.7 to 0, and the model
    silently runs on almost no signal.

What to do
    Quantize the values with the scale and zero point of the input.

Limits
    Integers that were cast instead of quantized have the right type: I304 detects those.
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
        wanted = f"expected {format_shape(given.tensor.shape)} {given.tensor.dtype}"
        steps = f"(q {'+' if zero < 0 else '-'} {abs(zero)})" if zero else "q"
        meaning = f"a value q means {scale:.6g} * {steps}"
        name = given.tensor.name
        yield Sighting(
            where=given.place,
            evidence=(Evidence(f"{wanted}; {meaning}", "model"), given.evidence),
            why="the model expects quantized integers",
            remedies=(
                Remedy(
                    "quantize the values with the input's scale and zero point",
                    Tag.SAME_RESULTS,
                    command=f"value = interpreter.quantize_input({name!r}, value)",
                ),
            ),
            fault=Fault.INPUT,
        )
