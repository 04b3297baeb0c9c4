"""the quantized model often chooses another winner

What it checks
    For every output with several values in its last dimension, how often the greatest one is at the same
    place as in the reference. Seen are outputs with less than nine in ten.

Why it matters
    For a classifier this is the answer: a model that disagrees this often is another model.

What to do
    Look at the layers where the error is born, and keep the worst of them in float.

Limits
    Outputs that are no scores (boxes, embeddings) have a greatest value as well; it means little there. Where
    no tensors could be paired, the models are different ones, and nothing is said of their winners.
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
            Evidence(f"the same winner in {agreement:.0%} of {plural(drift.samples, 'sample')}", "comparison")
        ]
        if output.metrics is not None:
            decibels = output.metrics.sqnr_db
            level = "not finite" if math.isnan(decibels) else f"{decibels:.1f} dB"
            facts.append(Evidence(f"signal to noise of this output {level}", "comparison"))
        worst = drift.worst(2)
        facts += [
            Evidence(f"most error is born in {drifts.layer_name(row)}: {row.blame:.1f} steps", "comparison")
            for row in worst[:1]
        ]
        yield Sighting(
            where=f'output "{output.name}"',
            evidence=tuple(facts),
            why="the error is larger than the lead of the winner",
            remedies=(drifts.keep_float(worst, drifts.share_of_error(drift, worst)), drifts.wider())
            if worst
            else (drifts.wider(),),
            confidence=drifts.certainty(drift, 20),
        )
