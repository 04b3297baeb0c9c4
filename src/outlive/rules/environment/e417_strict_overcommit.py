"""the system grants no more memory than it could back

What it checks
    Whether the kernel counts reserved memory as used (vm.overcommit_memory is 2).

Why it matters
    Memory that is reserved and never touched is refused once the count is full: an arena, or the fork of a
    large program, fails while much memory is free. It hurts where little is left to be granted.

What to do
    Let the kernel grant more, or keep what the program reserves small.

Limits
    What is left changes with every other program.
"""

from outlive.environment.surroundings import Surroundings
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import format_bytes

_STRICT = 2  # Linux, Documentation/mm/overcommit-accounting.rst


@rule("E417", "strict-overcommit", Severity.WARNING, since="0.1", cause="out-of-memory")
def strict_overcommit(surroundings: Surroundings) -> Sightings:
    if surroundings.overcommit != _STRICT:
        return
    left = surroundings.commit_left_bytes
    known = "not known" if left is None else format_bytes(max(0, left))
    yield Sighting(
        where="vm.overcommit_memory",
        evidence=(
            Evidence("2: every reserved byte counts as used", "/proc/sys/vm"),
            Evidence(f"left to be granted: {known}", "/proc/meminfo"),
        ),
        why="runtimes reserve more than they use",
        remedies=(
            Remedy("let the kernel decide", Tag.SAME_RESULTS, command="sudo sysctl vm.overcommit_memory=0"),
        ),
        fault=Fault.MACHINE,
    )
