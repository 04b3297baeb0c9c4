"""String input not set

What it checks
    A string input is set before it is read.

Why it matters
    A string tensor has no memory before you set it: LiteRT follows a null pointer.

What to do
    Set the input first.

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
        evidence=(Evidence("no set_tensor() before the read", "order of calls"),),
        why="a string tensor has no memory before you set it, and LiteRT crashes",
        remedies=(
            Remedy(
                "set the input, with one string per element",
                Tag.SAME_RESULTS,
                command=f"interpreter.set_tensor({call.index}, np.array([b'text'], dtype=object))",
            ),
        ),
        fault=Fault.INPUT,
    )
