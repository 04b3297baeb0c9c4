"""the input has its channels in another place than the model

What it checks
    Whether the shape given is the one wanted with the channels moved (NCHW for NHWC, or the reverse).

Why it matters
    A reshape would fit, and would mix rows, columns and colours without a word.

What to do
    Move the axis with np.moveaxis.

Limits
    Only sizes are compared: where height, width and channels are all alike, nothing can be noticed.
"""

from outlive.interpreter.judge import Call
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.calls import tensor_place, wanted_and_given


@rule("I202", "wrong-layout", Severity.ERROR, since="0.1", cause="wrong-layout")
def wrong_layout(call: Call) -> Sightings:
    if call.problem != "wrong-layout":
        return
    given = call.given_shape
    first = (*given[:1], *given[2:], *given[1:2]) == call.wanted_shape
    yield Sighting(
        where=tensor_place(call, "input"),
        evidence=wanted_and_given(call),
        why=f"the sizes are right, but channels come {'first' if first else 'last'} in what was given",
        remedies=(
            Remedy(
                "move the channels; a reshape would mix up the values",
                Tag.SAME_RESULTS,
                command=f"value = np.moveaxis(value, {'1, -1' if first else '-1, 1'})",
            ),
        ),
        confidence="likely",
        fault=Fault.INPUT,
    )
