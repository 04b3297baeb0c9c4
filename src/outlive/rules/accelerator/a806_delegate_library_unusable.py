"""Unusable delegate library

What it checks
    The library that you named with --delegate exists, is built for this machine, and exports the
    function that LiteRT needs.

Why it matters
    LiteRT reports only that it could not load the library, or raises an OSError.

What to do
    Correct the path, use the build for this processor, or ask the vendor for a build with the external
    delegate interface.

Limits
    The rule does not check the library's own dependencies: they fail when the library is loaded.
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
            why="LiteRT cannot load it",
            remedies=(Remedy(one.install, Tag.SAME_RESULTS),) if one.install else (),
            fault=Fault.MACHINE,
        )
