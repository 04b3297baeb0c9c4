"""a forked copy of the process waits for threads that it does not have

What it checks
    Whether a call missed its deadline while copies of its process, made by fork, waited beside it.

Why it matters
    A fork copies one thread and all locks. A library that had started threads, as TensorFlow does with its
    first op, then waits in the copy for threads that are not there, and never wakes up.

What to do
    Start processes afresh instead of forking them: multiprocessing's "spawn" or "forkserver". Or fork before
    the library does its first work.

Limits
    What the copies wait for is not looked at; another cause of their waiting is possible, and less likely.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, place

_SPAWN = Remedy(
    "start processes afresh instead of forking them",
    Tag.SAME_RESULTS,
    command='multiprocessing.get_context("spawn").Pool(...)',
)
_EARLIER = Remedy("fork before the first op: before anything of the library has run", Tag.SAME_RESULTS)


@rule("D512", "fork-after-threads", Severity.ERROR, since="0.1", cause="fork-after-threads")
def fork_after_threads(flight: Flight) -> Sightings:
    if cause(flight) != "forked":
        return
    threads = flight.activity["threads"]
    forks = sum(1 for child in flight.activity["children"] if child.get("forked"))
    copies = "1 copy of it, forked, waits" if forks == 1 else f"{forks} copies of it, forked, wait"
    yield Sighting(
        where=place(flight),
        evidence=(
            Evidence(f"{copies} beside it", "process table"),
            Evidence(f"it has {threads} threads, and a copy has one", "process table"),
            Evidence("neither used a processor at the deadline", "process table"),
        ),
        why="a fork copies one thread and all locks: what another thread held stays locked in the copy",
        remedies=(_SPAWN, _EARLIER),
        confidence="likely",
        fault=Fault.INPUT,
    )
