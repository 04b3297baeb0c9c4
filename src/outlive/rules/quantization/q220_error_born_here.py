"""far more error is born in one operator than elsewhere

What it checks
    The error that is born in each operator: its output against what the float operator makes of the very
    inputs that the quantized one got. It is measured in steps of a grid that would just hold the values, so
    that layers with large and small values can be compared. Seen are operators with more than two steps and
    five times the median of all.

Why it matters
    Error that arrives from earlier layers cannot be fixed where it is seen; this is where it arises.

What to do
    Keep the operator in float, give it 16 bits, or correct its ranges: a scale that does not fit the values,
    a zero point that is off, a channel whose scale is wrong.

Limits
    Operators that keep a state, run other subgraphs or have no partner in the reference cannot be run alone.
"""

from statistics import median

from outlive.quant import Drift
from outlive.rules.api import Evidence, Severity, Sighting, Sightings, rule
from outlive.rules.quantization import drifts

_MOST_STEPS = 2.0
_TIMES_MEDIAN = 5.0


@rule("Q220", "error-born-here", Severity.WARNING, since="0.1")
def error_born_here(drift: Drift) -> Sightings:
    known = [row.blame for row in drift.tensors if row.blame > 0]
    if not known:
        return
    middle = median(known)
    bad = [row for row in drift.worst(drifts.SHOWN) if row.blame > max(_MOST_STEPS, _TIMES_MEDIAN * middle)]
    if not bad:
        return
    facts = []
    for row in bad:
        here, total = row.born_here, row.metrics
        assert here is not None
        arrives = "" if total is None else f"; with what arrives from before {total.sqnr_db:.1f} dB"
        noise = f"signal to noise {here.sqnr_db:.1f} dB{arrives}"
        facts.append(Evidence(f"{drifts.layer_name(row)}: {row.blame:.1f} steps, {noise}", "comparison"))
    yield Sighting(
        where=drifts.layer_name(bad[0]),
        evidence=(*facts, Evidence(f"the median of {len(known)} layers is {middle:.2f} steps", "comparison")),
        why="the operator's own quantization, and not what it is given, makes this error",
        remedies=(drifts.keep_float(bad, drifts.share_of_error(drift, bad)), drifts.wider()),
        confidence=drifts.certainty(drift),
        op=bad[0].place,
    )
