"""file descriptors are opened in every round and never closed

What it checks
    Whether the number of open files, sockets, pipes and the like grows by the same amount in every round.

Why it matters
    A process may have a certain number of them, often 1,024. Then nothing can be opened any more, and what
    fails is seldom what leaked.

What to do
    Close what is opened: with `with`, or `.close()`. What they lead to is in the finding.

Limits
    Where the system does not tell what a descriptor leads to (there is no /proc), only their number is known.
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
                why="what is opened and not closed stays open until the process ends",
                remedies=(Remedy("close what each round opens: use `with`, or .close()", Tag.SAME_RESULTS),),
                fault=fault(stage),
            )


def _named(stage: CycleGrowth) -> Iterator[Evidence]:
    if stage.census is None:
        return
    source = f"{stage.census.rounds} rounds looked at"
    for name, per_round in stage.census.descriptors[:3]:
        yield Evidence(f"{per_round:.3g} per round lead to {name}", source)
    boxed = [keeper for keeper in stage.census.keepers if keeper.container and not keeper.plain]
    yield from keeping(boxed[:1], stage.census.rounds)
