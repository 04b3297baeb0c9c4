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
from outlive.rules.api import Severity, Sighting, Sightings, rule
from outlive.rules.quantization.drift_wording import keep_float, layer_name, seen, share_of_error, wider
from outlive.units import plural

_LEAST_AGREEMENT = 0.9


@rule("Q224", "winners-differ", Severity.WARNING, since="0.1")
def winners_differ(drift: Drift) -> Sightings:
    for output in drift.outputs if drift.tensors else ():
        agreement = output.argmax_agreement
        if agreement is None or agreement >= _LEAST_AGREEMENT:
            continue
        facts = [seen(f"the same winner in {agreement:.0%} of {plural(drift.samples, 'sample')}")]
        if output.metrics is not None:
            decibels = output.metrics.sqnr_db
            told = "not finite" if math.isnan(decibels) else f"{decibels:.1f} dB"
            facts.append(seen(f"signal to noise of this output {told}"))
        worst = drift.worst(2)
        facts += [
            seen(f"most error is born in {layer_name(row)}: {row.blame:.1f} steps") for row in worst[:1]
        ]
        yield Sighting(
            where=f'output "{output.name}"',
            evidence=tuple(facts),
            why="the error is larger than the lead of the winner",
            remedies=(keep_float(worst, share_of_error(drift, worst)), wider()) if worst else (wider(),),
            confidence="likely" if drift.samples < 20 else "certain",
        )
