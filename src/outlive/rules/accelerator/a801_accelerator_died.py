"""an accelerator kills the process that runs this model on it

What it checks
    Whether a worker that ran the model on an accelerator died: at loading, compiling, running or freeing.

Why it matters
    In a program that loads the accelerator itself, the program dies: no exception is raised that could be
    caught.

What to do
    Run the model on another accelerator. Where the operator is known, change it or keep it on the CPU.

Limits
    It was seen on this machine, with this driver and this version of the runtime; others may differ.
"""

from outlive.accelerators import Coverage
from outlive.rules.accelerator.coverage_wording import culprit, others_that_run, place, refusals
from outlive.rules.api import Evidence, Fault, Severity, Sighting, Sightings, rule


@rule("A801", "accelerator-died", Severity.ERROR, since="0.1", cause="delegate-crash")
def accelerator_died(coverage: Coverage) -> Sightings:
    for one in coverage.accelerators:
        death = one.death
        if death is None or death.ended_by:
            continue
        how = death.signal or f"exit code {death.exit_code}"
        op = f", in {death.op_type}" if death.op_type else ""
        facts = [Evidence(f"its process ended with {how} at {death.stage}{op}", "exit status")]
        facts += [Evidence(f"runs on {one.device}", "its own report")] if one.device else []
        dying = [refusal for refusal in one.refused if refusal.reason.startswith("it dies")]
        found, operator = culprit(one)
        yield Sighting(
            where=place(coverage, one),
            evidence=(*facts, *refusals(dying), *found),
            op=operator,
            why=death.headline,
            remedies=others_that_run(coverage, one),
            fault=Fault.RUNTIME,
        )
