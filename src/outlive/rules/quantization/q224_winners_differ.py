"""The top-1 class often differs

What it checks
    For every output with several values in its last dimension, the largest value has the same position
    as in the reference in at least 90 % of the samples.

Why it matters
    For a classifier, the top-1 class is the result.

What to do
    Check the layers that add the most error, and keep the worst of them in float.

Limits
    The finding means little for outputs that are not scores (boxes, embeddings). If no tensors could be
    paired, the models differ too much, and the rule is silent.
"""

import math

from outlive.quant import Drift
from outlive.rules.api import Evidence, Severity, Sighting, Sightings, rule
from outlive.rules.quantization import drifts
from outlive.units import plural

_LEAST_AGREEMENT = 0.9


@rule("Q224", "winners-differ", Severity.WARNING, since="0.1")
def winners_differ(drift: Drift) -> Sightings:
    for output in drift.outputs if drift.tensors else ():
        agreement = output.argmax_agreement
        if agreement is None or agreement >= _LEAST_AGREEMENT:
            continue
        facts = [
            Evidence(f"same top-1 in {agreement:.0%} of {plural(drift.samples, 'sample')}", "comparison")
        ]
        if output.metrics is not None:
            decibels = output.metrics.sqnr_db
            level = "not finite" if math.isnan(decibels) else f"{decibels:.1f} dB"
            facts.append(Evidence(f"SQNR of this output {level}", "comparison"))
        worst = drift.worst(2)
        facts += [
            Evidence(
                f"most error comes from {drifts.layer_name(row)}: {row.blame:.1f} int8 steps", "comparison"
            )
            for row in worst[:1]
        ]
        yield Sighting(
            where=f'output "{output.name}"',
            evidence=tuple(facts),
            why="the error is larger than the margin of the top-1 class",
            remedies=(drifts.keep_float(worst, drifts.share_of_error(drift, worst)), drifts.wider())
            if worst
            else (drifts.wider(),),
            confidence=drifts.certainty(drift, 20),
        )
