"""ai-edge-quantizer refuses the model

What it checks
    ai-edge-quantizer reads, calibrates and quantizes the model in its worker without an error.

Why it matters
    The model cannot be quantized this way. No file was written.

What to do
    Exclude the operators in the message, or use a simpler recipe: quantizing only the weights nearly
    always works.

Limits
    The message is ai-edge-quantizer's own, and unverified.
"""

from outlive.interpreter.judge import Call
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("Q213", "quantizer-refused", Severity.ERROR, since="0.1")
def quantizer_refused(call: Call) -> Sightings:
    if call.problem != "quantizer-refused":
        return
    yield Sighting(
        where="ai-edge-quantizer",
        evidence=(Evidence(call.text, "ai-edge-quantizer"),),
        why="it cannot quantize this model with this recipe",
        remedies=(
            Remedy(
                "quantize only the weights",
                Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe weight-only-int8 -o OUT",
            ),
            Remedy(
                "skip the operator type in the message",
                Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe static-int8 --samples samples.npz --skip TYPE -o OUT",
            ),
        ),
        fault=Fault.RUNTIME,
    )
