"""a later round raised an exception although the first ones did not

What it checks
    Whether a function that was repeated raised an exception in a later round than its first.

Why it matters
    Something runs out, or piles up, with the rounds: descriptors, memory under a limit, state that a round
    leaves behind for the next. What was measured before it stands.

What to do
    Read the exception, and what grew beside it.

Limits
    A function that raises in its first round is not judged at all: its exception is raised.
"""

from outlive.growth.growth import Growth
from outlive.rules.api import Evidence, Severity, Sighting, Sightings, rule
from outlive.rules.growth.culprits import fault, place


@rule("G608", "round-raised", Severity.ERROR, since="0.1")
def round_raised(growth: Growth) -> Sightings:
    for stage in growth.stages:
        if stage.problem and stage.calls and stage.flight is None:
            yield Sighting(
                where=place(growth, stage),
                evidence=(Evidence(stage.problem, f"{stage.calls:,} rounds before it"),),
                why="all rounds are alike, so what they find is not: an earlier one left something behind",
                fault=fault(stage),
            )
