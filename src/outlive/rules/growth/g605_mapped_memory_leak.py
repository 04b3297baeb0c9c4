"""Mapped memory leak

What it checks
    The mapped address space does not grow by the same amount in every round, apart from malloc's: files
    or anonymous memory that stay mapped.

Why it matters
    Touched pages use RAM. Untouched ones use address space, which limits (RLIMIT_AS, RLIMIT_DATA) and
    32-bit machines restrict, and the number of mappings is limited too.

What to do
    Close the mappings: mmap.mmap has .close(); numpy unmaps a memmap when nothing refers to it.

Limits
    Thread stacks are excluded: G604 counts threads.
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
            why="a mapping stays until it is unmapped, used or not",
            remedies=(Remedy("close the mappings of each round", Tag.SAME_RESULTS),),
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
        yield Evidence(fact, f"{stage.census.rounds} rounds examined")
    yield from keeping(opaque_keepers(stage)[:1], stage.census.rounds)
