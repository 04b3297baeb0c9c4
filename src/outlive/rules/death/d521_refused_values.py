"""the model runs, but not with every plain value of its inputs

What it checks
    Whether a model that runs is refused by the runtime when all its inputs are zeros, or all ones.

Why it matters
    Zeros are what inputs hold that were never set, what padding is made of, and what a first try often uses.
    A model that divides by an input, or takes a size or a rate from one, fails with them.

What to do
    Set all inputs to values that mean something to the model before it runs.

Limits
    Zeros and ones are tried; other values may be refused as well, and for other reasons.
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
    said = lines[:_LINES_SHOWN] or ["nothing"]
    where = place(flight)
    if refused.op is not None and flight.op is None:
        where = f"op {refused.op.index} {refused.op.type}, {where}"
    yield Sighting(
        where=where,
        evidence=(
            Evidence(f"all inputs were {refused.values}", "inputs"),
            *(Evidence(f"it said: {line}", flight.error_type) for line in said),
        ),
        why=refused.meaning,
        remedies=(
            Remedy(
                "set every input to a value that means something to it",
                Tag.CHANGES_RESULTS,
                command="outlive diagnose FILE --inputs values.npz",
            ),
        ),
        fault=Fault.INPUT,
        op=refused.op,
        cause=refused.cause,
    )
