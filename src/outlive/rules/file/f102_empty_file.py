"""the file is empty

What it checks
    That the file has at least one byte.

Why it matters
    A download or a conversion that failed often leaves an empty file behind; the runtime reports it as
    a broken model.

What to do
    Fetch or convert the model again, and look at what that step prints.

Limits
    It cannot tell why the file is empty.
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import file_kind

RULE = rule("F102", "empty-file", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    file_kind(
        "empty",
        (Evidence("the file has 0 bytes", "file size"),),
        "whatever should have written the model did not",
        Remedy("download or convert the model again", Tag.SAME_RESULTS),
    )
)
