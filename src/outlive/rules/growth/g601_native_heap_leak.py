"""Native memory leak

What it checks
    The memory that malloc has handed out does not grow by the same amount in every round, unless new
    Python objects explain it.

Why it matters
    The garbage collector does not free native memory. A service or notebook that repeats this runs out
    of memory sooner or later.

What to do
    Find the object that you must close or release in the library. If the bug is in the library, run it
    in a worker and restart the worker regularly.

Limits
    The finding names the allocating line only if memray is installed (pip install memray). G602 reports
    Python objects that own native memory, if their number grows.
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
            why="malloc's memory is never freed, and no new Python object holds it",
            remedies=(isolate(stage),),
            confidence="certain that memory grows" if stage.census else "likely; not examined",
            fault=fault(stage),
        )
