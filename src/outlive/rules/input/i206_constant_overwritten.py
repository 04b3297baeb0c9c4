"""the tensor to be set is a constant of the model

What it checks
    Whether the memory of the tensor is the model file itself.

Why it matters
    LiteRT writes through: into a mapped file that is a segmentation fault, into your copy of the model
    it changes the weights in silence.

What to do
    Set inputs only; to change weights, change the model.

Limits
    Constants with a single value and no dimensions are not recognised.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.interpreter.judge import Call
from outlive.rules.engine import rule
from outlive.rules.witness import tensor_place


@rule("I206", "constant-overwritten", Severity.ERROR, since="0.1", cause="write-to-constant")
def constant_overwritten(call: Call) -> Iterator[Sighting]:
    """See the module."""
    if call.problem != "constant":
        return
    yield Sighting(
        where=tensor_place(call, "constant"),
        evidence=(Evidence(fact="its memory is the model itself", source="worker"),),
        why="to set it would be to write into the model: a crash, or other weights without a word",
        remedies=(
            Remedy(
                action="set one of the inputs; these are their numbers",
                tag=Tag.SAME_RESULTS,
                command='[detail["index"] for detail in interpreter.get_input_details()]',
            ),
        ),
        fault=Fault.INPUT,
    )
