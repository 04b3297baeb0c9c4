"""Missing batch dimension

What it checks
    The given shape is not the expected shape without its first dimension of 1.

Why it matters
    This is a very common reason why a model refuses an image: an image has three dimensions, a batch of
    one image has four.

What to do
    Add the dimension with np.expand_dims.

Limits
    The rule recognizes only a first dimension of 1.
"""

from outlive.rules.api import Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("I201", "missing-batch", Severity.ERROR, since="0.1", cause="wrong-shape")(
    refused_call(
        "missing-batch",
        "input",
        "the model takes a batch, and the first dimension is the batch size",
        Remedy("add the batch dimension", Tag.SAME_RESULTS, command="value = np.expand_dims(value, 0)"),
    )
)
