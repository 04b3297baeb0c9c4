"""the model's metadata cannot be read in full

What it checks
    The metadata buffers that describe the model (TFLITE_METADATA, CONVERSION_METADATA, control
    dependencies) and the zip archive of attached files.

Why it matters
    The interpreter does not look at them, so the model runs; task libraries that read labels and
    normalisation from them fail.

What to do
    Write the metadata again if a task library needs it.

Limits
    Metadata of a newer version than known here may be reported although it is sound.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F123", "broken-metadata", Severity.WARNING, since="0.1")(
    flaws("bad-metadata", "the metadata was cut off, or written by a tool with another idea of its format")
)
