"""the input has another shape than the model wants

What it checks
    Whether shapes are equal.

Why it matters
    The runtime refuses it; unchecked, it would read past the end of the value.

What to do
    Give the shape the model wants. Many models can also be resized: set the new shape, allocate again.
    `outlive run` does so by itself where the file leaves a size open: -1 in its shape signature or, without
    one, a 1 that is not the channels.

Limits
    Whether the model works at another size is for the runtime to say, when tensors are allocated.
"""

import math

from outlive.interpreter.judge import Call
from outlive.rules.api import Fault, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.calls import tensor_place, wanted_and_given


@rule("I203", "wrong-shape", Severity.ERROR, since="0.1", cause="wrong-shape")
def wrong_shape(call: Call) -> Sightings:
    if call.problem != "wrong-shape":
        return
    yield Sighting(
        where=tensor_place(call, "input"),
        evidence=wanted_and_given(call),
        why="every dimension has to be the same",
        remedies=tuple(_remedies(call)),
        fault=Fault.INPUT,
    )


def _remedies(call: Call) -> Iterator[Remedy]:
    given, wanted = call.given_shape, call.wanted_shape
    if call.resizable:
        yield _resize(call, "resize the input of the model: its file leaves the size open", Tag.SAME_RESULTS)
    if given == (1, *wanted):
        yield _keep("take away the batch dimension", "value[0]")
    elif given[:1] > wanted[:1] == (1,) and given[1:] == wanted[1:]:
        yield _keep("give one after the other", "value[:1]")
    elif len(given) > 2 and (1, *given[1:], given[0]) == wanted:
        moved = "np.moveaxis(value, 0, -1)[np.newaxis]"
        yield _keep("move the channels to the end, and add the batch dimension", moved)
    elif math.prod(given) == math.prod(wanted):
        yield _keep("reshape, if the values are in the right order", f"value.reshape({list(wanted)})")
    else:
        yield Remedy("make the value the size that is wanted", Tag.CHANGES_RESULTS)
    if len(given) == len(wanted) and call.resizable is None:
        action = "resize the input of the model, if the model can be resized"
        yield _resize(call, action, Tag.CHANGES_RESULTS)


def _resize(call: Call, action: str, tag: Tag) -> Remedy:
    command = f"interpreter.resize_tensor_input({call.index}, {list(call.given_shape)})"
    return Remedy(action, tag, command=f"{command}; interpreter.allocate_tensors()")


def _keep(action: str, expression: str) -> Remedy:
    return Remedy(action, Tag.SAME_RESULTS, command=f"value = {expression}")
