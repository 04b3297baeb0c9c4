"""Unreadable model metadata

What it checks
    The metadata buffers of the model (TFLITE_METADATA, CONVERSION_METADATA, control dependencies) and
    the zip archive of attached files are readable.

Why it matters
    The interpreter ignores metadata, so the model runs. Task libraries that read labels and
    normalization from it fail.

What to do
    Write the metadata again if a task library needs it.

Limits
    The rule may report valid metadata of a newer version.
"""

from outlive.rules.api import Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F123", "broken-metadata", Severity.WARNING, since="0.1")(
    flaws(
        "bad-metadata",
        "the metadata was truncated, or a tool wrote it in another format",
        Remedy(
            "write the metadata again if a task library needs it; the model itself runs", Tag.SAME_RESULTS
        ),
    )
)
