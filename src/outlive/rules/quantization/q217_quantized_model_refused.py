"""the quantized model cannot be loaded by the runtime

What it checks
    The new file is loaded and its tensors are allocated, in a worker, as an interpreter would do it.

Why it matters
    A quantizer can write what no kernel takes: a type that an operator does not have, a zero point where
    there must be none. Such a file fails on the device, long after it was made.

What to do
    Leave the operator in float that the runtime names, or take another recipe.

Limits
    It is loaded with the runtime that is installed here; the one on the device may know less, or more.
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
        evidence=(Evidence(quantized.refusal, "LiteRT, while tensors were allocated"),),
        why="the quantizer wrote an operator that its kernel does not take",
        remedies=(
            Remedy("leave that type of operator in float", Tag.CHANGES_MODEL, command=_without(quantized)),
            Remedy(
                "quantize weights only",
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
