"""the file is of another format than TensorFlow Lite

What it checks
    Whether the first bytes are those of a format that is often mistaken for a model: HDF5, gzip, ONNX,
    pickle, LiteRT-LM and others.

Why it matters
    The runtime says only that the identifier is wrong.

What to do
    Convert or unpack the file with the tool for its format.

Limits
    Only well-known formats are named; anything else is reported as F109.
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import file_kind

RULE = rule("F108", "other-format", Severity.ERROR, since="0.1")(
    file_kind(
        "other-format",
        (Evidence("it is {detail}", "first bytes"),),
        "LiteRT reads .tflite files only",
        Remedy("convert or unpack it with the tool for its format", Tag.SAME_RESULTS),
    )
)
