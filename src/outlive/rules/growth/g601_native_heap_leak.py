"""native memory is allocated in every round and never freed

What it checks
    Whether what malloc has given out grows by the same amount in every round, when no Python object that
    became more can hold it: memory of a native library.

Why it matters
    No garbage collector frees it. A service or a notebook that repeats this dies of it, however much memory
    there is: later, not never.

What to do
    Look for what has to be closed or released by hand in the library that is used. If the fault is the
    library's, run it in a worker that is replaced now and then: its memory goes with it.

Limits
    The line that asked for the memory is named only where memray is installed (pip install memray).
    Python objects that own native memory are named by rule G602, if they became more.
"""

from outlive.growth.growth import Growth
from outlive.rules.api import Severity, Sighting, Sightings, rule
from outlive.rules.growth.culprits import beside, ends, fault, isolate, parts, place, rate, sites, stages_with


@rule("G601", "native-heap-leak", Severity.ERROR, since="0.1")
def native_heap_leak(growth: Growth) -> Sightings:
    for stage in stages_with(growth, "heap"):
        yield Sighting(
            where=place(growth, stage),
            evidence=(rate(stage), *parts(stage), *sites(stage), *beside(stage), *ends(stage)),
            why="what malloc gave out never came back, and no Python object that became more holds it",
            remedies=(isolate(stage),),
            confidence="certain that it grows" if stage.census else "likely: what it is was not looked at",
            fault=fault(stage),
        )
