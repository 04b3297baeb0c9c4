"""The accelerator is not available on this machine

What it checks
    The library, driver and device of each requested accelerator are available.

Why it matters
    outlive could not test the model on the accelerator: it may work or fail there.

What to do
    Install the missing part, or run the test on the target machine.

Limits
    The rule looks for the parts that this version of the runtime looks for.
"""

from outlive.accelerators import Coverage
from outlive.rules.accelerator.coverage_wording import place
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("A805", "accelerator-absent", Severity.NOTE, since="0.1")
def accelerator_absent(coverage: Coverage) -> Sightings:
    for one in coverage.accelerators:
        if one.available or one.is_library:
            continue
        install = Remedy("install the missing part", Tag.SAME_RESULTS, command=one.install)
        yield Sighting(
            where=place(coverage, one),
            evidence=(Evidence(one.unavailable, "this machine"),),
            why="outlive could not test the model on it",
            remedies=(install,) if one.install else (),
            fault=Fault.MACHINE,
        )
