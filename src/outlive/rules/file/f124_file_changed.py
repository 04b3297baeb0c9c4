"""the file changed while it was being read

What it checks
    That the file is the same from the moment it is opened to the last byte that is read of it: its
    length, when it was last written, and that no other file has taken its place.

Why it matters
    Of a file that another program writes to, one part may be old and another new: whatever is said about
    it may hold for neither. A program that maps such a file is ended by SIGBUS when it is cut short.

What to do
    Wait until it is written, and try again. Who writes models should write to another name and rename
    the file when it is whole. Give the bytes instead of the path, if the file will not keep still.

Limits
    Weights are read when they are asked for, so this may be found long after the model was opened. A
    program that sets the time of the last write back goes unnoticed.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import file_kind

RULE = rule("F124", "file-changed", Severity.ERROR, since="0.1")(
    file_kind(
        "changed",
        (Evidence("{detail}", "operating system"),),
        "another program writes to the file, so that one part of it may be old and another new",
        Remedy("wait until it is written, and read it again", Tag.SAME_RESULTS),
        Remedy("write to another name and rename the file when it is whole", Tag.SAME_RESULTS),
        fault=Fault.INPUT,
    )
)
