"""a delegate library cannot be used

What it checks
    Whether a library that was named with --delegate is there, is made for this machine, and has the function
    that LiteRT looks for in it.

Why it matters
    LiteRT itself says only that it could not load the library, or raises an OSError of the system.

What to do
    Give the right path; take the build for this processor; ask its maker for a build with the external
    delegate interface.

Limits
    Libraries that it needs in turn are found missing only when it is loaded.
"""

from outlive.accelerators import Coverage
from outlive.rules.accelerator.coverage_wording import place
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("A806", "delegate-library-unusable", Severity.ERROR, since="0.1", cause="delegate-refused")
def delegate_library_unusable(coverage: Coverage) -> Sightings:
    for one in coverage.accelerators:
        if one.available or not one.is_library:
            continue
        yield Sighting(
            where=place(coverage, one),
            evidence=(Evidence(one.unavailable, one.title),),
            why="it was not loaded",
            remedies=(Remedy(one.install, Tag.SAME_RESULTS),) if one.install else (),
            fault=Fault.MACHINE,
        )
