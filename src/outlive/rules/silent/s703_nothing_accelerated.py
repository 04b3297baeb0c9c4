"""XNNPACK took no operator

What it checks
    In a run with the default kernels, XNNPACK took at least one operator, by the runtime's own list of
    nodes. The rule applies to models without an operator that XNNPACK supports.

Why it matters
    The fallback is silent: the model runs with the builtin kernels, often several times slower than a
    model of the same size with XNNPACK.

What to do
    Check types and shapes: dynamic shapes, and types such as uint8 in older models, exclude XNNPACK.

Limits
    A model with little work gains nothing from XNNPACK.
"""

from outlive.arena.xnnpack.partition import expected_of_xnnpack
from outlive.model import Model
from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.silent.s702_delegate_fell_back import BUILT_IN, node_evidence

_SHOWN = 3


@rule("S703", "nothing-accelerated", Severity.NOTE, since="0.1")
def nothing_accelerated(flight: Flight, model: Model) -> Sightings:
    seen, expected = flight.delegation, expected_of_xnnpack(model)
    if flight.died or seen is None or seen.asked != BUILT_IN or seen.taken or not seen.operators:
        return
    if expected is not None and expected.taken:
        return  # it could have taken some: that is another finding
    reasons: dict[str, int] = {}
    for at, why in () if expected is None else expected.refused.items():
        reasons.setdefault(why, at)
    first = list(reasons.items())[:_SHOWN]
    reasons_given = (Evidence(f"operator {at}: {why}", "XNNPACK's own rules") for why, at in first)
    yield Sighting(
        where="the run",
        evidence=(*node_evidence(seen), *reasons_given),
        why="XNNPACK does not support these operators in this type and shape",
        remedies=(
            Remedy(
                "check the types and dimensions of the tensors",
                Tag.SAME_RESULTS,
                command="outlive read FILE --tensors",
            ),
        ),
        fault=Fault.FILE,
    )
