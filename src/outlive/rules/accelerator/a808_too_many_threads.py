"""more threads were asked for than this machine has processors

What it checks
    The number of threads against the number of processors.

Why it matters
    Threads that share a processor wait for each other: the model gets slower, not faster.

What to do
    Ask for as many threads as there are processors, or fewer.

Limits
    What a container may use of the processors it sees is not looked at.
"""

from outlive.accelerators import Coverage
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import command, file_name
from outlive.units import plural


@rule("A808", "too-many-threads", Severity.WARNING, since="0.1")
def too_many_threads(coverage: Coverage) -> Sightings:
    threads, processors = coverage.threads, coverage.processors
    if threads is None or processors is None or threads <= processors:
        return
    yield Sighting(
        where=file_name(coverage.path),
        evidence=(
            Evidence(f"{threads} threads were asked for", "arguments"),
            Evidence(f"this machine has {plural(processors, 'processor')}", "system"),
        ),
        why="threads beyond the processors only wait for each other",
        remedies=(
            Remedy(
                f"ask for {processors}",
                Tag.SAME_RESULTS,
                command=command("outlive delegates", coverage.path, "--threads", str(processors)),
            ),
        ),
        fault=Fault.INPUT,
    )
