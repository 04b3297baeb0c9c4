"""the samples use a small part of what the quantized input can hold

What it checks
    The least and greatest value of the samples, and 0 with them, against the range of the candidate's input,
    or of the QUANTIZE behind it. Seen are samples that need less than a quarter of it.

Why it matters
    Either the samples are not what the model was calibrated with (0 to 1 instead of pixels of 0 to 255), or
    it was calibrated with an outlier among them. What comes in is then known to a few levels only, and no
    layer behind it can repair that.

What to do
    Prepare the samples as the model's inputs are prepared, or calibrate with these.

Limits
    Inputs that are not quantized are not looked at. Few samples may not show all that will come.
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
            "prepare the samples as the model's inputs are prepared",
            Tag.CHANGES_RESULTS,
            effect=f"all levels of the input are used instead of {share:.1%}",
            command=f"sample = sample * {_BYTES}" if pixels else "",
        )
        yield Sighting(
            where=f'input "{found.name}"',
            evidence=(
                Evidence(f"the samples hold {found.low:.4g} to {found.high:.4g}", "samples"),
                Evidence(f"the input can hold {low:.4g} to {high:.4g}", "quantization parameters"),
            ),
            why="these look like pixels that were scaled to 1, where the model takes bytes"
            if pixels
            else "the range was measured with other values than these",
            remedies=(prepare, drifts.calibrate_again(drifts.finer(1 / share))),
            confidence=drifts.certainty(drift),
            fault=Fault.INPUT,
        )
