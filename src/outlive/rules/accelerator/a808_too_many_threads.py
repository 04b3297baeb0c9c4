"""More threads than processors

What it checks
    The number of threads is at most the number of processors.

Why it matters
    Threads that share a processor wait for each other: the model becomes slower.

What to do
    Use at most as many threads as processors.

Limits
    The rule does not check how many of the processors a container may use.
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
            Evidence(f"{threads} threads, {plural(processors, 'processor')}", "arguments"),
            Evidence(f"this machine has {plural(processors, 'processor')}", "system"),
        ),
        why="additional threads wait for each other",
        remedies=(
            Remedy(
                f"use {plural(processors, 'thread')}",
                Tag.SAME_RESULTS,
                command=command("outlive delegates", coverage.path, "--threads", str(processors)),
            ),
        ),
        fault=Fault.INPUT,
    )
