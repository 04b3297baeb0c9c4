"""Process ended for an unknown reason

What it checks
    outlive received the signal or exit code of the process.

Why it matters
    Without the exit status, a crash, a kill and an exit look the same.

What to do
    Run it again: outlive restarts the process that creates workers.

Limits
    The exit status is lost if the process that creates workers ends together with the worker, or does
    not answer.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, is_kernel, place, witness


@rule("D510", "end-unknown", Severity.ERROR, since="0.1")
def end_unknown(flight: Flight) -> Sightings:
    if cause(flight) != "unknown":
        return
    yield Sighting(
        where=place(flight),
        evidence=witness(flight),
        why="the process that starts workers ended too, or did not answer",
        remedies=() if is_kernel(flight) else (_again(flight),),
        confidence="certain that the process ended; its exit status is missing",
        fault=Fault.MACHINE,
    )


def _again(flight: Flight) -> Remedy:
    return Remedy(
        "run it again: outlive starts a new process",
        Tag.SAME_RESULTS,
        command="" if is_function(flight) else "outlive run FILE",
    )
