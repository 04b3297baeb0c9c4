"""Missing TFL3 identifier

What it checks
    Bytes 5 to 8 of the file are TFL3.

Why it matters
    The runtime refuses a file without the identifier. Either its first bytes were overwritten, or it
    never was a TensorFlow Lite model.

What to do
    Compare size and checksum with the source, and download the file again.

Limits
    The rule does not guess the file's format. F104 to F108 report common formats.
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import file_kind

RULE = rule("F109", "no-identifier", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    file_kind(
        "no-identifier",
        (
            Evidence("first bytes {detail}", "first bytes"),
            Evidence("{size:,} bytes", "file size"),
        ),
        "bytes 5 to 8 of a model are 'TFL3'",
        Remedy("compare the checksum with the source, and download the file again", Tag.SAME_RESULTS),
    )
)
