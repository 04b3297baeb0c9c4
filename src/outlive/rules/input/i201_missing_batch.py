"""the input lacks the batch dimension

What it checks
    Whether the shape given is the one wanted without its first dimension of 1.

Why it matters
    It is a very common reason why a model refuses an image: a picture has three dimensions, a batch of one
    picture four.

What to do
    Add the dimension with np.expand_dims.

Limits
    Only a first dimension of 1 is recognised.
"""

from outlive.rules.api import Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("I201", "missing-batch", Severity.ERROR, since="0.1", cause="wrong-shape")(
    refused_call(
        "missing-batch",
        "input",
        "the model takes batches, and a batch of one has a dimension for that too",
        Remedy("add the dimension in front", Tag.SAME_RESULTS, command="value = np.expand_dims(value, 0)"),
    )
)
