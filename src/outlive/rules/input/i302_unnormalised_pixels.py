"""Pixels are not normalized

What it checks
    Float values that look like image bytes (none below 0, the largest above 32 and at most 255) do not
    go to an input whose metadata (mean and standard deviation) or quantization covers at most 10.

Why it matters
    The model was trained on images scaled to -1 to 1, or 0 to 1. Without scaling, almost every pixel
    has the maximum value: the model runs, and its results are wrong.

What to do
    Scale the values as in training.

Limits
    The rule is silent for models that do not record their input range. Ignore the finding if the values
    are not pixels and the model expects outliers of that size.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed, GivenInput, expected_range, looks_like_bytes


@rule("I302", "unnormalised-pixels", Severity.WARNING, since="0.1")
def unnormalised_pixels(inputs: Feed) -> Sightings:
    for given in inputs.given:
        if looks_like_bytes(inputs, given):
            yield _sight(inputs, given)


def _sight(feed: Feed, given: GivenInput) -> Sighting:
    wanted = expected_range(feed, given)
    assert wanted is not None, "only where it is known does anything look out of place"
    scaled = "value / 127.5 - 1" if wanted.low < -0.25 * wanted.high else "value / 255"
    if wanted.mean:
        scaled = f"(value - {wanted.mean:g}) / {wanted.std:g}"
    return Sighting(
        where=given.place,
        evidence=(
            Evidence(f"expected {wanted.low:.4g} to {wanted.high:.4g}", wanted.source),
            given.evidence,
        ),
        why=f"the values look like pixels; the model expects {wanted.low:.2g} to {wanted.high:.2g}",
        remedies=(Remedy("scale the pixels", Tag.CHANGES_RESULTS, command=f"value = {scaled}"),),
        confidence="likely",
        fault=Fault.INPUT,
    )
