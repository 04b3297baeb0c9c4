"""Wrong channel order

What it checks
    The given shape is not the expected shape with the channels moved (NCHW instead of NHWC, or the
    reverse).

Why it matters
    A reshape would fit, and would silently mix rows, columns and channels.

What to do
    Move the axis with np.moveaxis.

Limits
    The rule compares sizes only. If height, width and channels are equal, it cannot detect the mistake.
"""

from outlive.interpreter.judge import Call
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.calls import given_and_wanted, tensor_place, wanted_and_given


@rule("I202", "wrong-layout", Severity.ERROR, since="0.1", cause="wrong-layout")
def wrong_layout(call: Call) -> Sightings:
    if call.problem != "wrong-layout":
        return
    given = call.given_shape
    first = (*given[:1], *given[2:], *given[1:2]) == call.wanted_shape
    yield Sighting(
        value=given_and_wanted(call),
        where=tensor_place(call, "input"),
        evidence=wanted_and_given(call),
        why=f"the sizes match, but the given array has its channels {'first' if first else 'last'}",
        remedies=(
            Remedy(
                "move the channels; a reshape would mix the values",
                Tag.SAME_RESULTS,
                command=f"value = np.moveaxis(value, {'1, -1' if first else '-1, 1'})",
            ),
        ),
        confidence="likely",
        fault=Fault.INPUT,
    )
