"""a sample holds infinite values

What it checks
    Every value of every sample, before anything native sees it.

Why it matters
    Quantization measures the least and greatest value of each tensor. One such value makes the ranges of all
    that depend on it meaningless: the model comes out as float without a word, or the converter dies.

What to do
    Find the sample and fix what makes it, or leave it out.

Limits
    Values that only become so inside the model are seen by a comparison (Q225), not here.
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("Q212", "infinity-in-sample", Severity.ERROR, since="0.1", cause="representative-dataset")(
    refused_call(
        "infinity-in-sample",
        "input",
        "a range without end has no step; TensorFlow's converter dies of it",
        Remedy(
            "look where they are, and fix what makes them",
            Tag.CHANGES_RESULTS,
            command="np.argwhere(np.isinf(sample))[:10]",
        ),
        seen=Evidence("{text} of a sample of {given} are infinite", "samples"),
    )
)
