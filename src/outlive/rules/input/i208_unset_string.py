"""the string input has not been set

What it checks
    Whether a string input was set before it is read.

Why it matters
    A string tensor has no memory before it is set; LiteRT follows a null pointer.

What to do
    Set it first.

Limits
    None known.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.interpreter.judge import Call
from outlive.rules.engine import rule
from outlive.rules.witness import tensor_place


@rule("I208", "unset-string", Severity.ERROR, since="0.1", cause="string-tensor-unset")
def unset_string(call: Call) -> Iterator[Sighting]:
    """See the module."""
    if call.problem != "unset-string":
        return
    yield Sighting(
        where=tensor_place(call, "input"),
        evidence=(Evidence(fact="read before it was set", source="order of calls"),),
        why="a string tensor has no memory before it is set, and LiteRT would crash",
        remedies=(
            Remedy(
                action="set it, with as many strings as it has elements",
                tag=Tag.SAME_RESULTS,
                command=f"interpreter.set_tensor({call.index}, np.array([b'text'], dtype=object))",
            ),
        ),
        fault=Fault.INPUT,
    )
