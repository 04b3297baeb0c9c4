"""Samples exceed the quantized input range

What it checks
    The samples lie inside the range of the candidate's input, or of the QUANTIZE behind it, within a
    twentieth of the range.

Why it matters
    Either the model was calibrated with differently prepared samples (pixels of -1 to 1 instead of 0 to
    255), or with too few. In both cases the comparison does not show real behavior.

What to do
    Prepare the samples like the model's inputs, or calibrate with these samples.

Limits
    Inputs that are not quantized are not checked.
"""

from outlive.quant import Drift
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.quantization import drifts

_SLACK = 0.05
_BYTES = 255


@rule("Q223", "samples-beyond-input", Severity.WARNING, since="0.1")
def samples_beyond_input(drift: Drift) -> Sightings:
    for found in drift.input_ranges:
        if found.can_hold is None:
            continue
        low, high = found.can_hold
        slack = _SLACK * (high - low)
        if found.low >= low - slack and found.high <= high + slack:
            continue
        pixels = found.low >= 0 and 32 < found.high <= _BYTES and high < _BYTES / 4
        prepare = Remedy(
            "prepare the samples like the model's inputs",
            Tag.CHANGES_RESULTS,
            command=f"sample = (pixels / {_BYTES} * {high - low:.4g} + {low:.4g})" if pixels else "",
        )
        coarser = (max(found.high, 0.0) - min(found.low, 0.0)) / (high - low)
        effect = f"no clipping, with steps {coarser:.1f} times as coarse" if coarser > 1 else ""
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
            why="the samples look like pixels without scaling"
            if pixels
            else "values beyond the range are clipped",
            remedies=(prepare, drifts.calibrate_again(effect)),
            fault=Fault.INPUT,
        )
