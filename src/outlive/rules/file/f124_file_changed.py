"""The file changed while outlive read it

What it checks
    The file stays the same from the first to the last read: same length, same modification time, same
    inode.

Why it matters
    While another program writes to the file, outlive may read old and new parts, and the findings may
    apply to neither. A program that maps the file receives SIGBUS when the file is truncated.

What to do
    Wait until the other program is done, and try again. Programs that write models should write to a
    temporary name and rename the file at the end. To avoid the problem, pass the model as bytes.

Limits
    outlive reads weights on demand, so it may detect the change long after it opened the model. A
    program that resets the modification time goes unnoticed.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import file_kind

RULE = rule("F124", "file-changed", Severity.ERROR, since="0.1")(
    file_kind(
        "changed",
        (Evidence("{detail}", "operating system"),),
        "another program writes to the file, and outlive may have read old and new parts",
        Remedy("wait until the other program is done, and try again", Tag.SAME_RESULTS),
        Remedy("write to a temporary name, and rename the file at the end", Tag.SAME_RESULTS),
        fault=Fault.INPUT,
    )
)
