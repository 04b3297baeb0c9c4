"""Model refuses plain inputs

What it checks
    A model that runs also accepts inputs of all zeros, and of all ones.

Why it matters
    Unset inputs and padding are zeros, and first tests often use zeros. A model that divides by an
    input, or takes a size or a rate from one, fails on them.

What to do
    Set all inputs to meaningful values before the run.

Limits
    The rule tests zeros and ones. The model may refuse other values, for other reasons.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import RefusedValues, place

_LINES_SHOWN = 2


@rule("D521", "refused-values", Severity.WARNING, since="0.1")
def refused_values(refused: RefusedValues) -> Sightings:
    flight = refused.flight
    if flight.died or not flight.error_type:
        return
    lines = [line.strip() for line in flight.error_text.splitlines() if line.strip()]
    said = lines[:_LINES_SHOWN] or ["no error message"]
    where = place(flight)
    if refused.op is not None and flight.op is None:
        where = f"operator {refused.op.index}, {refused.op.type}, {where}"
    yield Sighting(
        where=where,
        evidence=(
            Evidence(f"all inputs {refused.values}", "inputs"),
            *(Evidence(line, flight.error_type) for line in said),
        ),
        why=refused.meaning,
        remedies=(
            Remedy(
                "set every input to a meaningful value",
                Tag.CHANGES_RESULTS,
                command="outlive diagnose FILE --inputs values.npz",
            ),
        ),
        fault=Fault.INPUT,
        op=refused.op,
        cause=refused.cause,
    )
