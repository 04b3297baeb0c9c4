"""a sample holds values that are not a number

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

RULE = rule("Q211", "nan-in-sample", Severity.ERROR, since="0.1", cause="representative-dataset")(
    refused_call(
        "nan-in-sample",
        "input",
        "every range that one of them reaches is lost: such a model is silently left as float",
        Remedy(
            "look where they are, and fix what makes them",
            Tag.CHANGES_RESULTS,
            command="np.argwhere(np.isnan(sample))[:10]",
        ),
        seen=Evidence("{text} of a sample of {given} are NaN", "samples"),
    )
)
