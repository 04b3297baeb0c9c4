"""the output has not been computed yet

What it checks
    Whether the model has run since its tensors were allocated.

Why it matters
    LiteRT gives whatever lies in memory, or crashes for strings.

What to do
    Call invoke first.

Limits
    Outputs that are constants or inputs of the model can be read at any time.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.interpreter.judge import Call
from outlive.rules.engine import rule
from outlive.rules.witness import tensor_place


@rule("I207", "not-computed", Severity.ERROR, since="0.1", cause="call-order")
def not_computed(call: Call) -> Iterator[Sighting]:
    """See the module."""
    if call.problem != "not-computed":
        return
    yield Sighting(
        where=tensor_place(call, "output"),
        evidence=(Evidence(fact="read before any invoke since the allocation", source="order of calls"),),
        why="its memory holds whatever was there before",
        remedies=(
            Remedy(
                action="run the model, then read it", tag=Tag.SAME_RESULTS, command="interpreter.invoke()"
            ),
        ),
        fault=Fault.INPUT,
    )
