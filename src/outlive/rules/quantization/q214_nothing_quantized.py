"""quantization was asked for, and the model is float as before

What it checks
    The types of operators and weights in the file that the quantizer gave, against the float model.

Why it matters
    It is a silent failure: the file runs, and is as large and as slow as it was.

What to do
    Look at the reasons, operator by operator, and take a recipe that fits them.

Limits
    A model with a single quantized operator counts as quantized; the list of layers says which are not.
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
                f"none of {plural(len(quantized.layers), 'operator')} is quantized; {sizes}",
                "types in the file",
            ),
            *(
                Evidence(f"{plural(count, 'operator')}: {why}", "ai-edge-quantizer")
                for why, count in reasons.most_common(4)
            ),
        ),
        why="the recipe has nothing for the operators of this model",
        remedies=(
            Remedy(
                "take another recipe",
                Tag.CHANGES_MODEL,
                command=f"outlive quantize FILE --recipe {other} -o OUT",
            ),
        ),
        fault=Fault.INPUT,
    )
