"""Unsupported file format

What it checks
    The first bytes do not belong to a format that is often mistaken for a model: HDF5, gzip, ONNX,
    pickle, LiteRT-LM and others.

Why it matters
    The runtime reports only a wrong model identifier.

What to do
    Convert or unpack the file with the tool for its format.

Limits
    The rule names well-known formats only. F109 reports the others.
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import file_kind

RULE = rule("F108", "other-format", Severity.ERROR, since="0.1")(
    file_kind(
        "other-format",
        (Evidence("{detail}", "first bytes"),),
        "LiteRT reads .tflite files only",
        Remedy("convert or unpack it with the tool for its format", Tag.SAME_RESULTS),
    )
)
