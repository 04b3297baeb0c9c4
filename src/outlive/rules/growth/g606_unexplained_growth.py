"""Memory grows for an unknown reason

What it checks
    Resident memory does not grow by the same amount in every round without an explanation by malloc,
    mappings or Python objects.

Why it matters
    It ends like every leak. Reserved memory that is touched gradually, a library's own allocator, and
    heap fragmentation look like this.

What to do
    Repeat more rounds: reserved memory stops growing when it is full. If it goes on, run the code in a
    worker and restart the worker regularly.

Limits
    The finding names objects only if their number grew in the measured rounds.
"""

from outlive.growth.growth import Growth
from outlive.rules.api import Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.growth.culprits import ends, fault, isolate, parts, place, rate, stages_with


@rule("G606", "unexplained-growth", Severity.ERROR, since="0.1")
def unexplained_growth(growth: Growth) -> Sightings:
    for stage in stages_with(growth, "unknown"):
        more = Remedy(
            f"repeat more rounds (--repeat {4 * stage.calls})",
            Tag.SAME_RESULTS,
            effect="memory that was reserved once stops growing",
        )
        yield Sighting(
            where=place(growth, stage),
            evidence=(rate(stage), *parts(stage), *ends(stage)),
            why="resident memory grows in every round",
            remedies=(more, isolate(stage)),
            confidence="certain that memory grew in these rounds",
            fault=fault(stage),
        )
