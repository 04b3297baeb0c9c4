"""the file does not carry the identifier of a TensorFlow Lite model

What it checks
    That bytes 5 to 8 of the file read TFL3.

Why it matters
    Without the identifier the runtime refuses the file; its first bytes were overwritten, or it never
    was a model.

What to do
    Compare size and checksum with the source, and fetch the file again.

Limits
    It does not guess what else the file might be; common formats have findings of their own (F104 to
    F108).
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import file_kind

RULE = rule("F109", "no-identifier", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    file_kind(
        "no-identifier",
        (
            Evidence("its first bytes are {detail}", "first bytes"),
            Evidence("it has {size:,} bytes", "file size"),
        ),
        "a model has 'TFL3' as its fifth to eighth byte",
        Remedy("compare its checksum with the source and fetch it again", Tag.SAME_RESULTS),
    )
)
