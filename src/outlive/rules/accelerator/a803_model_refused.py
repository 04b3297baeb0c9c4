"""The accelerator does not run this model

What it checks
    The accelerator loaded, compiled and ran the model in time, without an error.

Why it matters
    A program that requests this accelerator fails, or silently runs on another one.

What to do
    Fix dynamic shapes, split off unsupported operators, or run the model elsewhere.

Limits
    The message is the accelerator's own, and often names no operator.
"""

from outlive.accelerators import Accelerator, Coverage
from outlive.rules.accelerator.coverage_wording import advice, others_that_run, place, refusals
from outlive.rules.api import Evidence, Fault, Severity, Sighting, Sightings, rule


@rule("A803", "model-refused", Severity.WARNING, since="0.1", cause="delegate-refused")
def model_refused(coverage: Coverage) -> Sightings:
    for one in coverage.accelerators:
        if not one.available or one.outcome not in ("refused", "ended"):
            continue
        yield Sighting(
            where=place(coverage, one),
            evidence=(Evidence(_said(one), "run"), *refusals(one.refused)),
            why="the model compiled, but did not run" if one.compiles else "the model did not compile",
            remedies=(*advice(one), *others_that_run(coverage, one)),
            fault=Fault.RUNTIME,
        )


def _said(one: Accelerator) -> str:
    if one.death is not None:
        return f"ended at {one.death.stage}: {one.death.ended_by}"
    return one.error or "no error message"
