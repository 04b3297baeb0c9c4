"""there are no samples to calibrate with

What it checks
    Whether there is at least one sample, where a recipe or a comparison needs some.

Why it matters
    Ranges of activations are measured on samples. With none of them TensorFlow's converter and
    ai-edge-quantizer give, without a word, a model that is not quantized.

What to do
    Give a few dozen inputs as the model will meet them: arrays, a generator, an .npz file, a folder. Mind
    that a generator that was gone through once is empty: give the function that makes it.

Limits
    Whether they are enough is not said: a hundred are plenty for most models.
"""

from outlive.interpreter.judge import Call
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule

_GIVE = Remedy(
    "give samples as the model will meet them: a folder, an .npz file, arrays or a generator",
    Tag.SAME_RESULTS,
    command="outlive quantize FILE --recipe static-int8 --samples samples.npz -o OUT",
)
_WITHOUT = Remedy(
    "quantize weights only, which needs none",
    Tag.CHANGES_MODEL,
    command="outlive quantize FILE --recipe dynamic-int8 -o OUT",
)


@rule("Q210", "no-samples", Severity.ERROR, since="0.1", cause="representative-dataset")
def no_samples(call: Call) -> Sightings:
    if call.problem != "no-samples":
        return
    yield Sighting(
        where="the samples",
        evidence=(Evidence(call.text or "the samples ended before the first one", "samples"),),
        why="without samples the ranges of activations are not known",
        remedies=(_GIVE, _WITHOUT),
        fault=Fault.INPUT,
    )
