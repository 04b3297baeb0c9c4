"""a given value asks for a tensor of impossible shape

What it checks
    Whether integers given to the model that it uses as they are for the shape of a result (FILL,
    BROADCAST_TO, RANDOM_UNIFORM and its kin, RESHAPE), for the depth of ONE_HOT or the multiples of TILE
    are negative, or ask for 2^31 elements and more.

Why it matters
    Not every kernel looks at them: in LiteRT RANDOM_UNIFORM dies of a memory fault for a negative
    shape, and for one too large. Memory that is asked for and not there ends a run in many ways.

What to do
    Give sizes that the result can have.

Limits
    Only values that reach the operator unchanged are followed, in the main subgraph. What is large and
    still below 2^31 elements is for a memory limit to judge.
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
        return "only one dimension can be left open with -1"
    if min(rest, default=0) < 0:
        return "a size is never negative"
    elements = math.prod(rest) * _times(feed, step)
    return f"it asks for {elements:,} elements" if elements >= _MOST_ELEMENTS else ""


def _times(feed: Feed, step: Operator) -> int:
    """How often the sizes are taken: ONE_HOT and TILE do it for each element of their first input."""
    tensors, first = feed.model.subgraphs[0].tensors, step.inputs[0]
    if step.type not in ("ONE_HOT", "TILE") or not 0 <= first < len(tensors):
        return 1
    return count_elements(tensors[first].shape) or 1


def _sight(given: GivenInput, step: Operator, sizes: tuple[int, ...], problem: str) -> Sighting:
    asked = f"{operator_name(step)} is asked for {'x'.join(map(str, sizes)) or format_shape(())}"
    return Sighting(
        where=given.place,
        evidence=(Evidence(asked, "inputs"), given.evidence),
        why=problem,
        remedies=(Remedy("give sizes that the result can have", Tag.CHANGES_RESULTS),),
        fault=Fault.INPUT,
        op=operator_place(step),
    )
