"""few files may be open at once

What it checks
    The limit on open files (RLIMIT_NOFILE) against what workers take: six for each open interpreter.

Why it matters
    It hurts who keeps many interpreters open, or runs in a program that holds many files itself: the next
    worker cannot be started, "Too many open files".

What to do
    Raise the limit, and close interpreters that are done.

Limits
    How many files the rest of the program holds is not known.
"""

from outlive.environment.surroundings import Surroundings
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule

# What this process holds for one interpreter: counted in /proc/self/fd over several of them.
_EACH = 6
_FEW = 128


@rule("E414", "few-descriptors", Severity.WARNING, since="0.1")
def few_descriptors(surroundings: Surroundings) -> Sightings:
    limit = surroundings.limits.get("NOFILE")
    if limit is None or limit >= _FEW:
        return
    yield Sighting(
        where="RLIMIT_NOFILE",
        evidence=(
            Evidence(f"at most {limit:,} files may be open", "resource limits"),
            Evidence(f"room for about {max(0, limit // _EACH - 3)} interpreters at once", "count"),
        ),
        why="each worker needs pipes and shared memory, and those are open files",
        remedies=(
            Remedy("raise the limit", Tag.SAME_RESULTS, command="ulimit -n 4096"),
            Remedy(
                "close interpreters that are done",
                Tag.SAME_RESULTS,
                command="with outlive.Interpreter(...) as interpreter: ...",
            ),
        ),
        fault=Fault.MACHINE,
    )
