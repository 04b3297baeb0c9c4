"""All samples are the same constant

What it checks
    The values of an input are not all equal in all samples.

Why it matters
    Such samples give ranges of one point: real inputs are clipped almost everywhere, and the quantized
    model is wrong although every step succeeded.

What to do
    Calibrate with realistic inputs.

Limits
    Ignore the finding for an input that is constant by design, such as a mask of ones.
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
            evidence=(Evidence(f"{seen.low:.6g} in {count}", "samples"),),
            why="the measured ranges contain one value",
            remedies=(
                Remedy(
                    "calibrate with realistic inputs",
                    Tag.CHANGES_RESULTS,
                    command="outlive quantize FILE --recipe static-int8 --samples samples.npz -o OUT",
                ),
            ),
            fault=Fault.INPUT,
        )
