"""Sample does not match the model's input

What it checks
    Every sample for TensorFlow's converter or quantization debugger, inside outlive.guard or
    outlive.convert, has the shape and type of its input.

Why it matters
    The calibrator silently resizes the model to another shape: the ranges belong to another
    computation, the model stays float, or a later step fails in a reshape.

What to do
    Yield lists with one array per input, of the exact shape (including a batch of 1) and type.

Limits
    For samples given by name, TensorFlow checks the names only.
"""

from outlive.interpreter.judge import Call
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.calls import given_and_wanted, tensor_place, wanted_and_given


@rule("Q216", "sample-misfit", Severity.ERROR, since="0.1", cause="representative-dataset")
def sample_misfit(call: Call) -> Sightings:
    if call.problem != "sample-misfit":
        return
    batch = (1, *call.given_shape) == call.wanted_shape
    fix = Remedy(
        "add the batch dimension to each sample" if batch else "yield samples of this shape and type",
        Tag.SAME_RESULTS,
        command="yield [sample[np.newaxis]]" if batch else f"yield [sample.astype(np.{call.wanted_dtype})]",
    )
    yield Sighting(
        where=f"{call.text}, {tensor_place(call, 'input')}",
        evidence=wanted_and_given(call),
        value=given_and_wanted(call),
        why="the calibrator would silently resize the model",
        remedies=(fix,),
        fault=Fault.INPUT,
    )
