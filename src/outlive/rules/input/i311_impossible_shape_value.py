"""Input requests an invalid shape

What it checks
    Integers that the model uses unchanged as a shape (FILL, BROADCAST_TO, RANDOM_UNIFORM and similar,
    RESHAPE), as the depth of ONE_HOT or as the multiples of TILE are not negative, and request fewer
    than 2^31 elements.

Why it matters
    Not every kernel checks them: in LiteRT, RANDOM_UNIFORM crashes for a negative shape, and for a
    shape that is too large. A failed allocation ends a run in many ways.

What to do
    Pass sizes that the result can have.

Limits
    The rule follows unchanged values only, in the main subgraph. Sizes below 2^31 elements are a matter
    of the memory limit.
"""

import math

from outlive.model import Operator
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed, GivenInput, uses
from outlive.rules.wording import operator_name, operator_place
from outlive.units import count_elements, format_shape

# Where each operator takes sizes from: LiteRT, tflite/kernels.
_SIZES = {
    "FILL": 0,
    "RANDOM_UNIFORM": 0,
    "RANDOM_STANDARD_NORMAL": 0,
    "BROADCAST_TO": 1,
    "RESHAPE": 1,
    "TILE": 1,
    "ONE_HOT": 1,
}
_MOST_ELEMENTS = 2**31
_MOST_DIMENSIONS = 32


@rule("I311", "impossible-shape-value", Severity.ERROR, since="0.1", cause="runtime-shape-from-input")
def impossible_shape_value(inputs: Feed) -> Sightings:
    for given in inputs.given:
        if given.array.dtype.kind not in "iu" or not 0 < given.seen.size <= _MOST_DIMENSIONS:
            continue
        sizes = tuple(int(size) for size in given.array.ravel())
        for step, place in uses(inputs, given):
            problem = _problem(inputs, step, sizes) if _SIZES.get(step.type) == place else ""
            if problem:
                yield _sight(given, step, sizes, problem)
                break


def _problem(feed: Feed, step: Operator, sizes: tuple[int, ...]) -> str:
    """What is wrong with the sizes; empty if nothing is."""
    rest = [size for size in sizes if not (step.type == "RESHAPE" and size == -1)]  # -1 is "what is left"
    if len(sizes) - len(rest) > 1:
        return "only one dimension can be -1"
    if min(rest, default=0) < 0:
        return "a size cannot be negative"
    elements = math.prod(rest) * _times(feed, step)
    return f"the shape has {elements:,} elements" if elements >= _MOST_ELEMENTS else ""


def _times(feed: Feed, step: Operator) -> int:
    """How often the sizes are taken: ONE_HOT and TILE do it for each element of their first input."""
    tensors, first = feed.model.subgraphs[0].tensors, step.inputs[0]
    if step.type not in ("ONE_HOT", "TILE") or not 0 <= first < len(tensors):
        return 1
    return count_elements(tensors[first].shape) or 1


def _sight(given: GivenInput, step: Operator, sizes: tuple[int, ...], problem: str) -> Sighting:
    asked = f"{operator_name(step)} receives the shape {'x'.join(map(str, sizes)) or format_shape(())}"
    return Sighting(
        where=given.place,
        evidence=(Evidence(asked, "inputs"), given.evidence),
        why=problem,
        remedies=(Remedy("pass sizes that the result can have", Tag.CHANGES_RESULTS),),
        fault=Fault.INPUT,
        op=operator_place(step),
    )
