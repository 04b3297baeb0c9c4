"""The file is empty

What it checks
    The file has at least one byte.

Why it matters
    A failed download or conversion often leaves an empty file. The runtime reports it as a corrupt
    model.

What to do
    Download or convert the model again, and read the output of that step.

Limits
    The rule cannot know why the file is empty.
"""

from outlive.rules.api import Evidence, Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import file_kind

RULE = rule("F102", "empty-file", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    file_kind(
        "empty",
        (Evidence("0 bytes", "file size"),),
        "the download or conversion that should have written it failed",
        Remedy("download or convert the model again", Tag.SAME_RESULTS),
    )
)
