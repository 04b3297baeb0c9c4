"""threads are started in every round and never end

What it checks
    Whether the number of threads grows by the same amount in every round.

Why it matters
    Each thread takes memory for its stack and a place in the system's tables; at some thousands no new one
    can be started. All that a thread refers to is kept as well.

What to do
    Join the threads, or let them end; use one pool for all rounds (concurrent.futures), closed at its end.

Limits
    Threads that a native library starts have no name in Python: they are counted, and not named.
"""

from outlive.growth.growth import LEAKS, CycleGrowth, Growth
from outlive.rules.api import Evidence, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.growth.culprits import counted, fault, parts, place


@rule("G604", "threads-leak", Severity.ERROR, since="0.1")
def threads_leak(growth: Growth) -> Sightings:
    for stage in growth.stages:
        if stage.verdict == LEAKS and stage.grows("threads"):
            yield Sighting(
                where=place(growth, stage),
                evidence=(*counted(stage, "threads", *_named(stage)), *parts(stage)),
                why="a thread that waits for ever keeps its stack, and everything it refers to",
                remedies=(Remedy("join or end them, or use one pool for all rounds", Tag.SAME_RESULTS),),
                fault=fault(stage),
            )


def _named(stage: CycleGrowth) -> Iterator[Evidence]:
    for name, _ in stage.census.threads[:3] if stage.census else ():
        yield Evidence(f'one is named "{name}"', "threading")
