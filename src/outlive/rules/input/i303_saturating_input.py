"""Values outside the quantized input range

What it checks
    At least 99 % of the float values lie inside the range of the input's quantization, or of the
    QUANTIZE operator behind it.

Why it matters
    Quantization clips values to the range: different values become equal, and the model cannot tell
    them apart.

What to do
    Check that the values are scaled as in training. If they are, calibrate the quantization with
    samples like these.

Limits
    Ignore the finding if values beyond the range mean the same as its end.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed, GivenInput, HeldRange, held_range, looks_like_bytes

_LEAST_SHARE = 0.01
# A range of -1 to 1 ends one step below 1, where zero has to be exact: that is harmless.
_SLACK_STEPS = 1.5


@rule("I303", "saturating-input", Severity.WARNING, since="0.1")
def saturating_input(inputs: Feed) -> Sightings:
    for given in inputs.given:
        span = held_range(inputs, given)
        # Pixels that were not scaled are another finding.
        if span is None or not given.seen.is_float or looks_like_bytes(inputs, given):
            continue
        outside = _outside(given, span)
        if outside >= _LEAST_SHARE * given.seen.size > 0:
            yield _sight(given, span, outside)


def _outside(given: GivenInput, span: HeldRange) -> int:
    """How many finite numbers lie so far beyond the range that clipping them matters."""
    import numpy as np

    values, slack = given.array, _SLACK_STEPS * span.scale
    beyond = (values < span.low - slack) | (values > span.high + slack)
    return int(np.count_nonzero(beyond & np.isfinite(values)))


def _sight(given: GivenInput, span: HeldRange, outside: int) -> Sighting:
    share = 100 * outside / given.seen.size
    clipped = f"{outside:,} of {given.seen.size:,} values ({share:.3g} %) are clipped"
    return Sighting(
        where=given.place,
        evidence=(Evidence(clipped, "inputs"), span.evidence, given.evidence),
        why="the quantization was calibrated with smaller values",
        remedies=(
            Remedy("scale the values as in training", Tag.CHANGES_RESULTS),
            Remedy("quantize the model again with samples like these", Tag.CHANGES_MODEL),
        ),
        confidence="certain that the values are clipped; the effect depends on the model",
        fault=Fault.INPUT,
    )
