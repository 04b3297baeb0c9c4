"""File descriptor leak

What it checks
    The number of open files, sockets and pipes does not grow by the same amount in every round.

Why it matters
    A process has a limited number of descriptors, often 1,024. At the limit nothing can be opened, and
    the failing code is seldom the leaking code.

What to do
    Close what you open: use `with`, or call `.close()`. The finding names the targets of the
    descriptors.

Limits
    Without /proc, only the number of descriptors is known.
"""

from outlive.growth.growth import LEAKS, CycleGrowth, Growth
from outlive.rules.api import Evidence, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.growth.culprits import counted, fault, keeping, memory_culprit, place


@rule("G603", "descriptors-leak", Severity.ERROR, since="0.1")
def descriptors_leak(growth: Growth) -> Sightings:
    for stage in growth.stages:
        # A file that is mapped has a descriptor of its own: its finding is that of the mapping.
        if stage.verdict == LEAKS and stage.grows("descriptors") and memory_culprit(stage) != "mapped":
            yield Sighting(
                where=place(growth, stage),
                evidence=(*counted(stage, "descriptors"), *_named(stage)),
                why="an open file stays open until it is closed or the process ends",
                remedies=(Remedy("close what each round opens, with `with` or .close()", Tag.SAME_RESULTS),),
                fault=fault(stage),
            )


def _named(stage: CycleGrowth) -> Iterator[Evidence]:
    if stage.census is None:
        return
    source = f"{stage.census.rounds} rounds examined"
    for name, per_round in stage.census.descriptors[:3]:
        yield Evidence(f"{per_round:.3g} per round to {name}", source)
    boxed = [keeper for keeper in stage.census.keepers if keeper.container and not keeper.plain]
    yield from keeping(boxed[:1], stage.census.rounds)
