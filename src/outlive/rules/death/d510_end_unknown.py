"""the model's process is gone, and how it ended is not known

What it checks
    Whether a process ended without a signal or an exit code being learned.

Why it matters
    Without the exit status, a crash, a kill and an exit all look alike.

What to do
    Run it again; what makes worker processes is started anew by itself.

Limits
    Evidence that is missing: the exit status. It is lost when the process that makes workers ends
    together with the worker, or does not answer.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, is_kernel, place, subject, witness


@rule("D510", "end-unknown", Severity.ERROR, since="0.1")
def end_unknown(flight: Flight) -> Sightings:
    if cause(flight) != "unknown":
        return
    yield Sighting(
        headline=f"{subject(flight)} is gone, and how it ended is not known",
        where=place(flight),
        evidence=witness(flight),
        why="the process that makes workers and sees them end is gone too, or did not answer",
        remedies=() if is_kernel(flight) else (_again(flight),),
        confidence="certain that it is gone; how is not known without its exit status",
        fault=Fault.MACHINE,
    )


def _again(flight: Flight) -> Remedy:
    return Remedy(
        "run it again; a new one is started by itself",
        Tag.SAME_RESULTS,
        command="" if is_function(flight) else "outlive run FILE",
    )
