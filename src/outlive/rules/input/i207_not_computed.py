"""Output read before invoke()

What it checks
    The model ran after its tensors were allocated.

Why it matters
    LiteRT returns uninitialized memory, or crashes for strings.

What to do
    Call invoke() first.

Limits
    Outputs that are constants or inputs of the model can be read at any time.
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("I207", "not-computed", Severity.ERROR, since="0.1", cause="call-order")(
    refused_call(
        "not-computed",
        "output",
        "the output contains uninitialized memory",
        Remedy("run the model before you read the output", Tag.SAME_RESULTS, command="interpreter.invoke()"),
        seen=Evidence("no invoke() since allocate_tensors()", "order of calls"),
    )
)
