"""The model is still float after quantization

What it checks
    The quantized file has quantized operators or weights.

Why it matters
    This failure is silent: the file runs, and is as large and slow as before.

What to do
    Read the reason for each operator, and use a recipe that supports them.

Limits
    One quantized operator is enough to pass. The list of layers shows the others.
"""

from collections import Counter

from outlive.quant import Quantized
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import format_bytes, plural

_OTHERS = {"dynamic-int8": "static-int8 --samples samples.npz"}


@rule("Q214", "nothing-quantized", Severity.ERROR, since="0.1")
def nothing_quantized(quantized: Quantized) -> Sightings:
    if quantized.quantized_layers:
        return
    reasons = Counter(layer.why for layer in quantized.layers if layer.why)
    sizes = f"{format_bytes(quantized.float_bytes)} before, {format_bytes(quantized.file_bytes)} now"
    other = _OTHERS.get(quantized.recipe, "dynamic-int8")
    yield Sighting(
        where=f"recipe {quantized.recipe}",
        evidence=(
            Evidence(
                f"0 of {plural(len(quantized.layers), 'operator')} quantized; {sizes}",
                "types in the file",
            ),
            *(
                Evidence(f"{plural(count, 'operator')}: {why}", "ai-edge-quantizer")
                for why, count in reasons.most_common(4)
            ),
        ),
        why="the recipe does not apply to the operators of this model",
        remedies=(
            Remedy(
                "use another recipe",
                Tag.CHANGES_MODEL,
                command=f"outlive quantize FILE --recipe {other} -o OUT",
            ),
        ),
        fault=Fault.INPUT,
    )
