"""an accelerator cannot be tried on this machine

What it checks
    Whether an accelerator that was asked for has what it needs here: its library, its driver, a device.

Why it matters
    Nothing is known of what it would do with the model: not that it works, and not that it does not.

What to do
    Install what is missing, or try on the machine where it will run.

Limits
    What is looked for is what this version of the runtime looks for.
"""

from outlive.accelerators import Coverage
from outlive.rules.accelerator.coverage_wording import place
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("A805", "accelerator-absent", Severity.NOTE, since="0.1")
def accelerator_absent(coverage: Coverage) -> Sightings:
    for one in coverage.accelerators:
        if one.available or one.is_library:
            continue
        install = Remedy("install what is missing", Tag.SAME_RESULTS, command=one.install)
        yield Sighting(
            where=place(coverage, one),
            evidence=(Evidence(one.unavailable, "this machine"),),
            why="it was not tried, so nothing is known of it",
            remedies=(install,) if one.install else (),
            fault=Fault.MACHINE,
        )
