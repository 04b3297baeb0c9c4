"""No calibration samples

What it checks
    A recipe or comparison that needs samples has at least one.

Why it matters
    Activation ranges are measured on samples. Without samples, TensorFlow's converter and
    ai-edge-quantizer silently return a model that is not quantized.

What to do
    Pass some dozens of realistic inputs: arrays, a generator, an .npz file, a folder. A generator is
    empty after the first pass: pass the function that creates it.

Limits
    The rule does not judge whether the samples are enough. A hundred suffice for most models.
"""

from outlive.interpreter.judge import Call
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule

_GIVE = Remedy(
    "pass realistic samples: a folder, an .npz file, arrays or a generator",
    Tag.SAME_RESULTS,
    command="outlive quantize FILE --recipe static-int8 --samples samples.npz -o OUT",
)
_WITHOUT = Remedy(
    "quantize only the weights, which needs no samples",
    Tag.CHANGES_MODEL,
    command="outlive quantize FILE --recipe dynamic-int8 -o OUT",
)


@rule("Q210", "no-samples", Severity.ERROR, since="0.1", cause="representative-dataset")
def no_samples(call: Call) -> Sightings:
    if call.problem != "no-samples":
        return
    yield Sighting(
        where="the samples",
        evidence=(Evidence(call.text or "0 samples", "samples"),),
        why="activation ranges are measured on samples",
        remedies=(_GIVE, _WITHOUT),
        fault=Fault.INPUT,
    )
