"""the samples reach beyond what the quantized input can hold

What it checks
    The least and greatest value of the samples against the range of the candidate's input, or of the QUANTIZE
    behind it. Seen is what lies more than a twentieth of the range outside of it.

Why it matters
    Either the samples are not what the model was calibrated with (pixels of 0 to 255 instead of -1 to 1), or
    it was calibrated with too few of them. In both cases what is compared is not what will run.

What to do
    Prepare the samples as the model's inputs are prepared, or calibrate with these.

Limits
    Inputs that are not quantized are not looked at.
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
            "prepare the samples as the model's inputs are prepared",
            Tag.CHANGES_RESULTS,
            command=f"sample = (pixels / {_BYTES} * {high - low:.4g} + {low:.4g})" if pixels else "",
        )
        coarser = (max(found.high, 0.0) - min(found.low, 0.0)) / (high - low)
        effect = f"nothing is cut off; steps {coarser:.1f} times as coarse" if coarser > 1 else ""
        yield Sighting(
            where=f'input "{found.name}"',
            evidence=(
                Evidence(f"the samples hold {found.low:.4g} to {found.high:.4g}", "samples"),
                Evidence(f"the input can hold {low:.4g} to {high:.4g}", "quantization parameters"),
            ),
            why="these look like pixels that were not scaled" if pixels else "what lies beyond is cut off",
            remedies=(prepare, drifts.calibrate_again(effect)),
            fault=Fault.INPUT,
        )
