"""numbers from 0 to 255 are given to an input made for a few around 0

What it checks
    Whether real numbers that look like bytes of a picture (none below 0, the largest above 32 and at most
    255) are given to an input which by its metadata (mean and standard deviation) or its quantization holds
    no number beyond 10.

Why it matters
    The model saw pictures scaled to -1 to 1, or to 0 to 1. Unscaled, nearly every pixel is the brightest
    there is. It runs, and its answers are wrong.

What to do
    Scale the values as in training.

Limits
    Nothing is said about models that tell nowhere what they want. It does not hurt if the values are not
    pixels, and the model was made for outliers of that size.
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
            Evidence(f"made for {wanted.low:.4g} to {wanted.high:.4g}", wanted.source),
            given.evidence,
        ),
        why=f"pixels, it seems, that were not scaled; about {wanted.low:.2g} to {wanted.high:.2g} is wanted",
        remedies=(Remedy("scale the pixels", Tag.CHANGES_RESULTS, command=f"value = {scaled}"),),
        confidence="likely",
        fault=Fault.INPUT,
    )
