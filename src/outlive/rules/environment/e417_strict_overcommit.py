"""Strict memory overcommit

What it checks
    The kernel does not count reserved memory as used (vm.overcommit_memory is 2).

Why it matters
    Once the count is full, the kernel refuses memory that would never be touched: an arena, or the fork
    of a large program, fails while memory is free. This matters when little of the commit limit is
    left.

What to do
    Allow overcommit, or keep reservations small.

Limits
    The remaining commit limit changes with every other program.
"""

from outlive.environment.surroundings import Surroundings
from outlive.meter import FACT_SOURCES
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import format_bytes

_STRICT = 2  # Linux, Documentation/mm/overcommit-accounting.rst


@rule("E417", "strict-overcommit", Severity.WARNING, since="0.1", cause="out-of-memory")
def strict_overcommit(surroundings: Surroundings) -> Sightings:
    if surroundings.overcommit != _STRICT:
        return
    left = surroundings.commit_left_bytes
    known = "unknown" if left is None else format_bytes(max(0, left))
    yield Sighting(
        where="vm.overcommit_memory",
        evidence=(
            Evidence("vm.overcommit_memory = 2", FACT_SOURCES["overcommit"]),
            Evidence(f"remaining commit limit: {known}", FACT_SOURCES["commit_left_bytes"]),
        ),
        why="runtimes reserve more memory than they use",
        remedies=(
            Remedy("allow overcommit", Tag.SAME_RESULTS, command="sudo sysctl vm.overcommit_memory=0"),
        ),
        fault=Fault.MACHINE,
    )
