"""Deadlock in a forked process

What it checks
    No call missed its deadline while forked copies of its process waited.

Why it matters
    A fork copies one thread and all locks. If a library has started threads, as TensorFlow does with
    its first op, the copy waits forever for threads that it does not have.

What to do
    Use multiprocessing's "spawn" or "forkserver" instead of fork, or fork before the library's first
    call.

Limits
    The rule does not check what the copies wait for. Another cause is possible, but less likely.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, place

_SPAWN = Remedy(
    "start new processes instead of forking",
    Tag.SAME_RESULTS,
    command='multiprocessing.get_context("spawn").Pool(...)',
)
_EARLIER = Remedy("fork before the library's first call", Tag.SAME_RESULTS)


@rule("D512", "fork-after-threads", Severity.ERROR, since="0.1", cause="fork-after-threads")
def fork_after_threads(flight: Flight) -> Sightings:
    if cause(flight) != "forked":
        return
    threads = flight.activity["threads"]
    forks = sum(1 for child in flight.activity["children"] if child.get("forked"))
    copies = "1 forked copy waits" if forks == 1 else f"{forks} forked copies wait"
    yield Sighting(
        where=place(flight),
        evidence=(
            Evidence(copies, "process table"),
            Evidence(f"the process has {threads} threads, a copy has one", "process table"),
            Evidence("neither used a processor at the deadline", "process table"),
        ),
        why="a fork copies one thread and all locks: locks of other threads stay locked in the copy",
        remedies=(_SPAWN, _EARLIER),
        confidence="likely",
        fault=Fault.INPUT,
    )
