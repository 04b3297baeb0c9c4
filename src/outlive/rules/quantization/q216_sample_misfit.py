"""a sample does not fit the model that it is to calibrate

What it checks
    The shape and type of every sample that TensorFlow's converter, or its quantization debugger, is given
    inside outlive.guard or outlive.convert.

Why it matters
    The calibrator takes another shape in silence and resizes the model to it: the ranges are then those of
    another computation, or the model is left as float, or a later step fails with a message about a reshape.

What to do
    Yield lists with one array for each input, of just the input's shape (a batch of 1 included) and type.

Limits
    Samples that are given by name are checked by TensorFlow, by their names only.
"""

from outlive.interpreter.judge import Call
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.calls import tensor_place, wanted_and_given


@rule("Q216", "sample-misfit", Severity.ERROR, since="0.1", cause="representative-dataset")
def sample_misfit(call: Call) -> Sightings:
    if call.problem != "sample-misfit":
        return
    batch = (1, *call.given_shape) == call.wanted_shape
    fix = Remedy(
        "give each sample its batch dimension" if batch else "give samples of that shape and type",
        Tag.SAME_RESULTS,
        command="yield [sample[np.newaxis]]" if batch else f"yield [sample.astype(np.{call.wanted_dtype})]",
    )
    yield Sighting(
        where=f"{call.text}, {tensor_place(call, 'input')}",
        evidence=wanted_and_given(call),
        why="the calibrator would resize the model to it in silence, and measure another computation",
        remedies=(fix,),
        fault=Fault.INPUT,
    )
