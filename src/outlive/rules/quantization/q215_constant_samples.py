"""all samples are the same constant

What it checks
    Whether all values of an input, in all samples, are one number.

Why it matters
    Ranges measured on such samples are those of one point: real inputs are cut off almost everywhere, and the
    quantized model is wrong although every step of making it succeeded.

What to do
    Calibrate with inputs as the model will meet them.

Limits
    An input that is a constant by design (a mask of ones) is fine; one number says nothing about that.
"""

from outlive.quant import Quantized
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import plural


@rule("Q215", "constant-samples", Severity.WARNING, since="0.1", cause="representative-dataset")
def constant_samples(quantized: Quantized) -> Sightings:
    for seen in quantized.input_ranges:
        if seen.low != seen.high:
            continue
        count = plural(quantized.samples, "sample")
        yield Sighting(
            where=f'input "{seen.name}"',
            evidence=(Evidence(f"every value of {count} is {seen.low:.6g}", "samples"),),
            why="the ranges that were measured are those of one point",
            remedies=(
                Remedy(
                    "calibrate with inputs as the model will meet them",
                    Tag.CHANGES_RESULTS,
                    command="outlive quantize FILE --recipe static-int8 --samples samples.npz -o OUT",
                ),
            ),
            fault=Fault.INPUT,
        )
