"""memory grows with every round and nothing names what holds it

What it checks
    Whether memory in RAM grows by the same amount in every round although neither malloc's count, nor
    mappings, nor Python objects that became more explain it.

Why it matters
    It ends as every leak does. Memory that was reserved at the start and is touched bit by bit looks like
    this, as do allocators of a library's own and a heap that is cut into ever smaller pieces.

What to do
    Repeat it more often: what fills something that was reserved stops. If it goes on, run it in a worker
    that is replaced now and then.

Limits
    Objects are named only if they became more in the rounds that were looked at.
"""

from outlive.growth.growth import Growth
from outlive.rules.api import Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.growth.culprits import ends, fault, isolate, parts, place, rate, stages_with


@rule("G606", "unexplained-growth", Severity.ERROR, since="0.1")
def unexplained_growth(growth: Growth) -> Sightings:
    for stage in stages_with(growth, "unknown"):
        more = Remedy(
            f"repeat it more often (--repeat {4 * stage.calls})",
            Tag.SAME_RESULTS,
            effect="what fills something that was reserved once stops",
        )
        yield Sighting(
            where=place(growth, stage),
            evidence=(rate(stage), *parts(stage), *ends(stage)),
            why="memory that was not in RAM before is now, round after round",
            remedies=(more, isolate(stage)),
            confidence="certain that it grew in these rounds",
            fault=fault(stage),
        )
