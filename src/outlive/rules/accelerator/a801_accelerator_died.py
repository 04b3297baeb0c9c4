"""The accelerator crashes the process on this model

What it checks
    No worker that ran the model on an accelerator died while it loaded, compiled, ran or freed the
    model.

Why it matters
    A program that loads the accelerator itself dies: no exception reaches it.

What to do
    Run the model on another accelerator. If the operator is known, change it or keep it on the CPU.

Limits
    The crash happened on this machine, with this driver and this version of the runtime. Others may
    differ.
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
        facts = [Evidence(f"{how} at {death.stage}{op}", "exit status")]
        facts += [Evidence(f"runs on {one.device}", "its own report")] if one.device else []
        dying = [refusal for refusal in one.refused if refusal.reason.startswith("crash")]
        found, operator = culprit(one)
        yield Sighting(
            where=place(coverage, one),
            evidence=(*facts, *refusals(dying), *found),
            op=operator,
            why=death.headline,
            remedies=others_that_run(coverage, one),
            fault=Fault.RUNTIME,
        )
