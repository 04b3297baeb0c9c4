"""Low limit on open files

What it checks
    The limit on open files (RLIMIT_NOFILE) is high enough for workers: six for each open interpreter.

Why it matters
    With many open interpreters, or in a program with many open files, the next worker fails to start:
    "Too many open files".

What to do
    Raise the limit, and close interpreters that you no longer need.

Limits
    The rule does not know how many files the rest of the program uses.
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
            Evidence(f"at most {limit:,} open files", "resource limits"),
            Evidence(f"enough for about {max(0, limit // _EACH - 3)} interpreters", "count"),
        ),
        why="each worker needs open files for pipes and shared memory",
        remedies=(
            Remedy("raise the limit", Tag.SAME_RESULTS, command="ulimit -n 4096"),
            Remedy(
                "close interpreters after use",
                Tag.SAME_RESULTS,
                command="with outlive.Interpreter(...) as interpreter: ...",
            ),
        ),
        fault=Fault.MACHINE,
    )
