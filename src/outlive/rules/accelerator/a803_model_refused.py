"""an accelerator that is here does not run this model

What it checks
    Whether the accelerator raised an error when the model was loaded, compiled or run on it, or did not end
    in time; no process died.

Why it matters
    A program that asks for this accelerator fails, or runs on another one without a word.

What to do
    Fix the shapes where they are not fixed; split off what the accelerator cannot do; or run it elsewhere.

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
            why="it was compiled, and did not run" if one.compiles else "it could not be compiled",
            remedies=(*advice(one), *others_that_run(coverage, one)),
            fault=Fault.RUNTIME,
        )


def _said(one: Accelerator) -> str:
    if one.death is not None:
        return f"it was ended at {one.death.stage}: {one.death.ended_by}"
    return f"it said: {one.error}" if one.error else "it said nothing"
