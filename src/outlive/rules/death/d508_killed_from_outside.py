"""the model's process was ended from outside

What it checks
    Whether the process ended by SIGKILL, SIGTERM, SIGINT or SIGHUP with no sign that memory ran out, or
    because the call it was busy with was interrupted.

Why it matters
    A supervisor, a user or the system ended it; the model may be innocent.

What to do
    Look at who manages processes on this machine, and at the system's log.

Limits
    A signal does not say who sent it. Where the system keeps no count of out-of-memory kills, such a kill
    cannot be told from another.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, doer, memory, place, status, subject


@rule("D508", "killed-from-outside", Severity.ERROR, since="0.1")
def killed_from_outside(flight: Flight) -> Sightings:
    if cause(flight) == "outside":
        yield _interrupted(flight) if flight.ended_by else _signalled(flight)


def _interrupted(flight: Flight) -> Sighting:
    return Sighting(
        headline=f"{subject(flight)} was ended from outside",
        where=place(flight),
        evidence=(Evidence(f"the call was given up: {flight.ended_by}", "caller"),),
        why="the answer was no longer waited for, so outlive ended the process that was busy with it",
        remedies=(Remedy("call again; the next call gets a new process", Tag.SAME_RESULTS),),
        fault=Fault.OUTLIVE,
    )


def _signalled(flight: Flight) -> Sighting:
    counted = flight.oom_kills is not None
    kills = "out-of-memory kills did not rise" if counted else "out-of-memory kills are not counted here"
    who = "certain; who sent the signal is not known"
    return Sighting(
        headline=f"{subject(flight)} was ended from outside",
        where=place(flight),
        evidence=(status(flight), Evidence(kills, "kernel counters"), *memory(flight)),
        why=f"the signal came neither from the {doer(flight)} nor from outlive",
        remedies=(
            Remedy(
                "look for the sender in the system's log",
                Tag.SAME_RESULTS,
                command="journalctl --since -10min",
            ),
        ),
        confidence=who if counted else "likely; a kill for memory would look the same here",
        fault=Fault.MACHINE,
    )
