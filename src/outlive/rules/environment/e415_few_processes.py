"""few processes may be started

What it checks
    The limit on the user's processes (RLIMIT_NPROC, which root is not held to) and that of the container
    (pids.max) against what workers take.

Why it matters
    Threads count as well: a worker with threads, or a notebook beside it, reaches the limit, and the next
    worker, or a thread in it, cannot be started: "Resource temporarily unavailable".

What to do
    Raise the limit, or give interpreters fewer threads.

Limits
    How many processes the user has already is not looked at.
"""

from outlive.environment.surroundings import Surroundings
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule

_FEW = 64


@rule("E415", "few-processes", Severity.WARNING, since="0.1")
def few_processes(surroundings: Surroundings) -> Sightings:
    own = None if surroundings.is_root else surroundings.limits.get("NPROC")
    limits = (
        ("RLIMIT_NPROC", own, "ulimit -u 4096"),
        ("pids.max", surroundings.process_limit, "docker run --pids-limit 4096 ..."),
    )
    low = [(name, limit, command) for name, limit, command in limits if limit is not None and limit < _FEW]
    if not low:
        return
    yield Sighting(
        where=" and ".join(name for name, _, _ in low),
        evidence=tuple(Evidence(f"at most {limit:,} processes and threads", name) for name, limit, _ in low),
        why="each model runs in a process of its own, and its threads count as well",
        remedies=(
            *(Remedy("raise the limit", Tag.SAME_RESULTS, command=line) for _, _, line in low),
            Remedy("use one thread", Tag.SAME_RESULTS, command="outlive run FILE --threads 1"),
        ),
        fault=Fault.MACHINE,
    )
