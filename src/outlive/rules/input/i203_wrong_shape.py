"""Wrong input shape

What it checks
    The given shape equals the expected shape.

Why it matters
    The runtime refuses the input. Without the check it would read past the end of the array.

What to do
    Pass an array of the expected shape. Many models can also be resized: set the new shape, then
    allocate again. `outlive run` does this itself for dynamic dimensions: -1 in the shape signature or,
    without a signature, a 1 that is not the channels.

Limits
    Only the runtime knows whether the model works at another size: it decides in allocate_tensors().
"""

import math

from outlive.interpreter.judge import Call
from outlive.rules.api import Fault, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.calls import given_and_wanted, tensor_place, wanted_and_given


@rule("I203", "wrong-shape", Severity.ERROR, since="0.1", cause="wrong-shape")
def wrong_shape(call: Call) -> Sightings:
    if call.problem != "wrong-shape":
        return
    yield Sighting(
        value=given_and_wanted(call),
        where=tensor_place(call, "input"),
        evidence=wanted_and_given(call),
        why="every dimension must match",
        remedies=tuple(_remedies(call)),
        fault=Fault.INPUT,
    )


def _remedies(call: Call) -> Iterator[Remedy]:
    given, wanted = call.given_shape, call.wanted_shape
    if call.resizable:
        yield _resize(call, "resize the input: the model has dynamic dimensions", Tag.SAME_RESULTS)
    if given == (1, *wanted):
        yield _keep("remove the batch dimension", "value[0]")
    elif given[:1] > wanted[:1] == (1,) and given[1:] == wanted[1:]:
        yield _keep("pass one sample at a time", "value[:1]")
    elif len(given) > 2 and (1, *given[1:], given[0]) == wanted:
        moved = "np.moveaxis(value, 0, -1)[np.newaxis]"
        yield _keep("move the channels to the end, and add the batch dimension", moved)
    elif math.prod(given) == math.prod(wanted):
        yield _keep("reshape the array, if its order is right", f"value.reshape({list(wanted)})")
    else:
        yield Remedy("resize the array to the expected shape", Tag.CHANGES_RESULTS)
    if len(given) == len(wanted) and call.resizable is None:
        action = "resize the model's input, if the model supports it"
        yield _resize(call, action, Tag.CHANGES_RESULTS)


def _resize(call: Call, action: str, tag: Tag) -> Remedy:
    command = f"interpreter.resize_tensor_input({call.index}, {list(call.given_shape)})"
    return Remedy(action, tag, command=f"{command}; interpreter.allocate_tensors()")


def _keep(action: str, expression: str) -> Remedy:
    return Remedy(action, Tag.SAME_RESULTS, command=f"value = {expression}")
