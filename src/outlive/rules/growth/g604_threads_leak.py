"""Thread leak

What it checks
    The number of threads does not grow by the same amount in every round.

Why it matters
    Each thread uses memory for its stack and an entry in the system's tables. At some thousands no new
    thread can start. Everything that a thread refers to stays in memory.

What to do
    Join the threads, or use one pool for all rounds (concurrent.futures) and shut it down at the end.

Limits
    Threads of native libraries have no name in Python: the finding counts them only.
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
                why="a waiting thread keeps its stack and everything that it refers to",
                remedies=(Remedy("join the threads, or use one pool for all rounds", Tag.SAME_RESULTS),),
                fault=fault(stage),
            )


def _named(stage: CycleGrowth) -> Iterator[Evidence]:
    for name, _ in stage.census.threads[:3] if stage.census else ():
        yield Evidence(f'thread "{name}"', "threading")
