"""Cannot set a constant tensor

What it checks
    The tensor that you set is not part of the model file.

Why it matters
    LiteRT writes to the address: a segmentation fault in a mapped file, a silent change of the weights
    in a copy of the model.

What to do
    Set inputs only. To change weights, change the model.

Limits
    The rule does not recognize scalar constants.
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("I206", "constant-overwritten", Severity.ERROR, since="0.1", cause="write-to-constant")(
    refused_call(
        "constant",
        "constant",
        "the write would change the model: a crash, or silently wrong weights",
        Remedy(
            "set one of the inputs, by these indices",
            Tag.SAME_RESULTS,
            command='[detail["index"] for detail in interpreter.get_input_details()]',
        ),
        seen=Evidence("its memory is part of the model", "worker"),
    )
)
