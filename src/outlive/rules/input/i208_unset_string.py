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

from outlive.interpreter.judge import Call
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.calls import tensor_place


@rule("I208", "unset-string", Severity.ERROR, since="0.1", cause="string-tensor-unset")
def unset_string(call: Call) -> Sightings:
    if call.problem != "unset-string":
        return
    yield Sighting(
        where=tensor_place(call, "input"),
        evidence=(Evidence("read before it was set", "order of calls"),),
        why="a string tensor has no memory before it is set, and LiteRT would crash",
        remedies=(
            Remedy(
                "set it, with as many strings as it has elements",
                Tag.SAME_RESULTS,
                command=f"interpreter.set_tensor({call.index}, np.array([b'text'], dtype=object))",
            ),
        ),
        fault=Fault.INPUT,
    )
