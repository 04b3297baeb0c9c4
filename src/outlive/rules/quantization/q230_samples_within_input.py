"""Samples use little of the quantized input range

What it checks
    The samples, including 0, need at least a quarter of the range of the candidate's input, or of the
    QUANTIZE behind it.

Why it matters
    Either the model was calibrated with differently prepared samples (pixels of 0 to 255 instead of 0
    to 1), or with an outlier. The input has only a few levels, and later layers cannot restore the
    information.

What to do
    Prepare the samples like the model's inputs, or calibrate with these samples.

Limits
    Inputs that are not quantized are not checked. A few samples may not show the full range of the
    inputs.
"""

from outlive.quant import Drift
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.quantization import drifts

_LEAST_SHARE = 1 / 4
_BYTES = 255


@rule("Q230", "samples-within-input", Severity.WARNING, since="0.1")
def samples_within_input(drift: Drift) -> Sightings:
    for found in drift.input_ranges:
        if found.can_hold is None or not found.low < found.high:
            continue  # a constant sample has a rule of its own
        low, high = found.can_hold
        share = (max(found.high, 0.0) - min(found.low, 0.0)) / (high - low)
        if share >= _LEAST_SHARE:
            continue
        pixels = found.low >= 0 and found.high <= 1 and high > _BYTES / 2
        prepare = Remedy(
            "prepare the samples like the model's inputs",
            Tag.CHANGES_RESULTS,
            effect=f"uses the whole range instead of {share:.1%}",
            command=f"sample = sample * {_BYTES}" if pixels else "",
        )
        spans = f"samples {found.low:.4g} to {found.high:.4g}, input range {low:.4g} to {high:.4g}"
        yield Sighting(
            where=f'input "{found.name}"',
            evidence=(
                Evidence(
                    spans,
                    "samples",
                ),
                Evidence(f"input range {low:.4g} to {high:.4g}", "quantization parameters"),
            ),
            why="the samples look like pixels scaled to 1, and the model expects bytes"
            if pixels
            else "the range was calibrated with other values",
            remedies=(prepare, drifts.calibrate_again(drifts.finer(1 / share))),
            confidence=drifts.certainty(drift),
            fault=Fault.INPUT,
        )
