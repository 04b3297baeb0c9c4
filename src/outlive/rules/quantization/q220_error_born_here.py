"""One operator adds most of the quantization error

What it checks
    No operator adds more than two steps of error and five times the median of all operators. The rule
    compares its output with the float operator's output for the same quantized inputs, in steps of a
    grid that just holds the values; this makes layers comparable.

Why it matters
    Error that arrives from earlier layers cannot be fixed where it is visible. This operator is its
    source.

What to do
    Keep the operator in float, give it 16 bits, or correct its ranges: a scale that does not fit the
    values, a wrong zero point, a channel with a wrong scale.

Limits
    Operators with state, operators that run other subgraphs, and operators without a counterpart in the
    reference cannot run alone.
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
        arrives = "" if total is None else f"; {total.sqnr_db:.1f} dB with the error of earlier layers"
        noise = f"SQNR {here.sqnr_db:.1f} dB{arrives}"
        facts.append(Evidence(f"{drifts.layer_name(row)}: {row.blame:.1f} int8 steps, {noise}", "comparison"))
    yield Sighting(
        where=drifts.layer_name(bad[0]),
        evidence=(*facts, Evidence(f"median of {len(known)} layers: {middle:.2f} steps", "comparison")),
        why="the error comes from the operator's own quantization, not from its inputs",
        remedies=(drifts.keep_float(bad, drifts.share_of_error(drift, bad)), drifts.wider()),
        confidence=drifts.certainty(drift),
        op=bad[0].place,
    )
