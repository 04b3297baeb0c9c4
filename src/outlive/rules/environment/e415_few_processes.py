"""Low limit on processes

What it checks
    The user's process limit (RLIMIT_NPROC, from which root is exempt) and that of the container
    (pids.max) are high enough for workers.

Why it matters
    Threads count too. A worker with threads, or a notebook next to it, reaches the limit; the next
    worker or thread fails to start: "Resource temporarily unavailable".

What to do
    Raise the limit, or give interpreters fewer threads.

Limits
    The rule does not count the processes that the user already has.
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
        why="each model runs in a separate process, and its threads count too",
        remedies=(
            *(Remedy("raise the limit", Tag.SAME_RESULTS, command=line) for _, _, line in low),
            Remedy("use one thread", Tag.SAME_RESULTS, command="outlive run FILE --threads 1"),
        ),
        fault=Fault.MACHINE,
    )
