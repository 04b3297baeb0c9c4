"""memory is mapped in every round and never unmapped

What it checks
    Whether the mapped address space grows by the same amount in every round, and malloc has not asked for it:
    files or anonymous memory that are mapped (mmap) and kept.

Why it matters
    Pages that are touched take RAM. Those that are not still take address space, which limits
    (RLIMIT_AS, RLIMIT_DATA) and 32-bit machines have little of, and the number of mappings is limited too.

What to do
    Close what is mapped: mmap.mmap has .close(), numpy.memmap is unmapped when nothing refers to it.

Limits
    Stacks of threads are left out: rule G604 counts them.
"""

from outlive.growth.growth import CycleGrowth, Growth
from outlive.rules.api import Evidence, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.growth.culprits import (
    ends,
    fault,
    keeping,
    opaque_keepers,
    parts,
    place,
    rate,
    stages_with,
)
from outlive.units import format_bytes


@rule("G605", "mapped-memory-leak", Severity.ERROR, since="0.1")
def mapped_memory_leak(growth: Growth) -> Sightings:
    for stage in stages_with(growth, "mapped"):
        yield Sighting(
            where=place(growth, stage),
            evidence=(rate(stage), *parts(stage), *_named(stage), *ends(stage)),
            why="a mapping stays until it is unmapped, whether its pages are touched or not",
            remedies=(Remedy("close in each round what it maps", Tag.SAME_RESULTS),),
            fault=fault(stage),
        )


def _named(stage: CycleGrowth) -> Iterator[Evidence]:
    if stage.census is None:
        return
    largest = max((per_round for _, per_round in stage.census.mappings), default=0.0)
    for name, per_round in stage.census.mappings[:2]:
        if per_round < largest / 4:
            continue
        fact = f"{format_bytes(round(per_round))} per round of {name}"
        yield Evidence(fact, f"{stage.census.rounds} rounds looked at")
    yield from keeping(opaque_keepers(stage)[:1], stage.census.rounds)
