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

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.interpreter.judge import Call
from outlive.rules.engine import rule

_GIVE = Remedy(
    action="give samples as the model will meet them: a folder, an .npz file, arrays or a generator",
    tag=Tag.SAME_RESULTS,
    command="outlive quantize FILE --recipe static-int8 --samples samples.npz -o OUT",
)
_WITHOUT = Remedy(
    action="quantize weights only, which needs none",
    tag=Tag.CHANGES_MODEL,
    command="outlive quantize FILE --recipe dynamic-int8 -o OUT",
)


@rule("Q210", "no-samples", Severity.ERROR, since="0.1", cause="representative-dataset")
def no_samples(call: Call) -> Iterator[Sighting]:
    """See the module."""
    if call.problem != "no-samples":
        return
    yield Sighting(
        where="the samples",
        evidence=(Evidence(fact=call.text or "the samples ended before the first one", source="samples"),),
        why="without samples the ranges of activations are not known",
        remedies=(_GIVE, _WITHOUT),
        fault=Fault.INPUT,
    )
