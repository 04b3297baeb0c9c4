"""XNNPACK took no operator of the model

What it checks
    Of a run with the runtime's default kernels: whether XNNPACK took any operator, read from the runtime's
    own list of nodes, of a model with none that XNNPACK has.

Why it matters
    It is not an error, and nothing says so: the model runs with the plain kernels, often several times
    slower than one of the same size that XNNPACK takes.

What to do
    Look at the types and shapes: dynamic shapes, and types such as uint8 in older models, keep it away.

Limits
    A model that does little has nothing to gain.
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
    reasons_given = (Evidence(f"op {at}: {why}", "XNNPACK's own rules") for why, at in first)
    yield Sighting(
        where="the run",
        evidence=(*node_evidence(seen), *reasons_given),
        why="no operator here is one that XNNPACK has, in this type and shape",
        remedies=(
            Remedy(
                "see which dimensions and types are in its way",
                Tag.SAME_RESULTS,
                command="outlive read FILE --tensors",
            ),
        ),
        fault=Fault.FILE,
    )
