"""NaN in a sample

What it checks
    No value of any sample is NaN. The check runs before native code sees the sample.

Why it matters
    Quantization measures the minimum and maximum of each tensor. One NaN invalidates the ranges of
    everything that depends on it: the model silently stays float, or the converter crashes.

What to do
    Find the sample and fix its source, or remove it.

Limits
    Q225 reports NaN that arises inside the model.
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("Q211", "nan-in-sample", Severity.ERROR, since="0.1", cause="representative-dataset")(
    refused_call(
        "nan-in-sample",
        "input",
        "NaN invalidates ranges, and the model silently stays float",
        Remedy(
            "find the values, and fix their source",
            Tag.CHANGES_RESULTS,
            command="np.argwhere(np.isnan(sample))[:10]",
        ),
        seen=Evidence("{text} values of a sample of {given} are NaN", "samples"),
    )
)
