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

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("I206", "constant-overwritten", Severity.ERROR, since="0.1", cause="write-to-constant")(
    refused_call(
        "constant",
        "constant",
        "to set it would be to write into the model: a crash, or other weights without a word",
        Remedy(
            "set one of the inputs; these are their numbers",
            Tag.SAME_RESULTS,
            command='[detail["index"] for detail in interpreter.get_input_details()]',
        ),
        seen=Evidence("its memory is the model itself", "worker"),
    )
)
