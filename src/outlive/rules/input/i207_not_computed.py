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

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("I207", "not-computed", Severity.ERROR, since="0.1", cause="call-order")(
    refused_call(
        "not-computed",
        "output",
        "its memory holds whatever was there before",
        Remedy("run the model, then read it", Tag.SAME_RESULTS, command="interpreter.invoke()"),
        seen=Evidence("read before any invoke since the allocation", "order of calls"),
    )
)
