"""The runtime refuses the quantized model

What it checks
    The runtime loads the new file and allocates its tensors, in a worker.

Why it matters
    A quantizer can write tensors that no kernel supports: a type without a kernel, a zero point that
    must be 0. Such a file fails on the device.

What to do
    Keep the operator in the runtime's message in float, or use another recipe.

Limits
    The check uses the runtime installed here. The one on the device may differ.
"""

import re
import shlex

from outlive.quant import Quantized
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("Q217", "quantized-model-refused", Severity.ERROR, since="0.1")
def quantized_model_refused(quantized: Quantized) -> Sightings:
    if not quantized.refusal:
        return
    yield Sighting(
        where=f"recipe {quantized.recipe}",
        evidence=(Evidence(quantized.refusal, "LiteRT, allocate_tensors()"),),
        why="the quantizer wrote an operator that its kernel does not support",
        remedies=(
            Remedy("keep this operator type in float", Tag.CHANGES_MODEL, command=_without(quantized)),
            Remedy(
                "quantize only the weights",
                Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe weight-only-int8 -o OUT",
            ),
        ),
        fault=Fault.RUNTIME,
    )


def _without(quantized: Quantized) -> str:
    """The same once more, without the type of operator that the runtime names."""
    named = re.search(r"Node number \d+ \(([A-Z0-9_]+)\)", quantized.refusal)
    kind = named.group(1) if named else "TYPE"
    samples = " --samples samples.npz" if quantized.samples else ""
    return f"outlive quantize FILE --recipe {shlex.quote(quantized.recipe)}{samples} --skip {kind} -o OUT"
