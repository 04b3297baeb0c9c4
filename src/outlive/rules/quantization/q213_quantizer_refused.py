"""ai-edge-quantizer refuses the model

What it checks
    What ai-edge-quantizer raises while it reads, calibrates or quantizes the model in its worker.

Why it matters
    The model cannot be quantized this way; nothing was written.

What to do
    Leave out the operators its words name, or take a recipe that asks less: weights alone are nearly always
    possible.

Limits
    Its words are passed on as they are; whether it is right is not checked.
"""

from outlive.interpreter.judge import Call
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("Q213", "quantizer-refused", Severity.ERROR, since="0.1")
def quantizer_refused(call: Call) -> Sightings:
    if call.problem != "quantizer-refused":
        return
    yield Sighting(
        where="the quantizer",
        evidence=(Evidence(f"it said: {call.text}", "ai-edge-quantizer"),),
        why="it has no way to quantize this model with this recipe",
        remedies=(
            Remedy(
                "quantize weights only",
                Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe weight-only-int8 -o OUT",
            ),
            Remedy(
                "leave out an operator type that it names",
                Tag.CHANGES_MODEL,
                command="outlive quantize FILE --recipe static-int8 --samples samples.npz --skip TYPE -o OUT",
            ),
        ),
        fault=Fault.RUNTIME,
    )
