"""Exception in a later round

What it checks
    A repeated function that succeeds in its first round does not raise an exception in a later one.

Why it matters
    Something runs out, or accumulates: descriptors, memory under a limit, state from earlier rounds.
    The measurements before the exception are valid.

What to do
    Read the exception, and the growth next to it.

Limits
    If the first round raises, leak() raises that exception instead of a finding.
"""

from outlive.growth.growth import Growth
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.growth.culprits import fault, place


@rule("G608", "round-raised", Severity.ERROR, since="0.1")
def round_raised(growth: Growth) -> Sightings:
    for stage in growth.stages:
        if stage.problem and stage.calls and stage.flight is None:
            yield Sighting(
                where=place(growth, stage),
                evidence=(Evidence(stage.problem, f"{stage.calls:,} rounds before it"),),
                why="all rounds do the same, so an earlier round left something behind",
                remedies=(Remedy("read the exception, and what grew before it", Tag.SAME_RESULTS),),
                fault=fault(stage),
            )
