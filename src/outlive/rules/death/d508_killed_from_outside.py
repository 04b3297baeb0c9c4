"""Process killed from outside

What it checks
    The process did not end by SIGKILL, SIGTERM, SIGINT or SIGHUP without a sign of memory shortage, and
    the call was not interrupted.

Why it matters
    A supervisor, a user or the system ended the process. The model may be correct.

What to do
    Check the process manager of this machine, and the system log.

Limits
    A signal does not name its sender. If the system does not count out-of-memory kills, they look like
    other kills.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, doer, is_kernel, memory, place, status, was_busy
from outlive.rules.tensorflow_log import any_own_line


@rule("D508", "killed-from-outside", Severity.ERROR, since="0.1")
def killed_from_outside(flight: Flight) -> Sightings:
    if cause(flight) == "outside":
        yield _interrupted(flight) if flight.ended_by else _signalled(flight)


def _interrupted(flight: Flight) -> Sighting:
    if is_kernel(flight):
        return _restarted(flight)
    return Sighting(
        where=place(flight),
        evidence=(Evidence(f"the caller gave up: {flight.ended_by}", "caller"),),
        why="outlive ended the process, because the caller stopped waiting",
        remedies=(Remedy("call again: the next call gets a new process", Tag.SAME_RESULTS),),
        fault=Fault.OUTLIVE,
    )


def _restarted(flight: Flight) -> Sighting:
    """A cell that did not end until its kernel was restarted."""
    busy = was_busy(flight)
    ran = next((one.seconds for one in flight.stages if one.stage == "cell"), 0.0)
    waited = "it waited for something that did not come"
    return Sighting(
        headline="Cell did not end until the kernel was restarted",
        where=any_own_line(flight) or place(flight),
        evidence=(Evidence(f"the cell ran for {ran:,.0f} s", "record"), *memory(flight)),
        why=waited if busy is False else "it was still computing: a loop without end, or a long computation",
        remedies=(),
        confidence="certain",
        fault=Fault.RUNTIME,
        cause="hang" if busy is False else "infinite-loop",
    )


def _signalled(flight: Flight) -> Sighting:
    counted = flight.oom_kills is not None
    kills = "no out-of-memory kill counted" if counted else "out-of-memory kills are not counted here"
    who = "certain; the sender of the signal is unknown"
    return Sighting(
        where=place(flight),
        evidence=(status(flight), Evidence(kills, "kernel counters"), *memory(flight)),
        why="the signal does not tell its sender"
        if is_kernel(flight)
        else f"neither the {doer(flight)} nor outlive sent the signal",
        remedies=(
            Remedy(
                "find the sender in the system log",
                Tag.SAME_RESULTS,
                command="journalctl --since -10min",
            ),
        ),
        confidence=who if counted else "likely; an out-of-memory kill looks the same here",
        fault=Fault.MACHINE,
    )
