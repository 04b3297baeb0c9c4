"""Name is not valid UTF-8

What it checks
    Every name and description in the file is valid UTF-8.

Why it matters
    Python's interpreter raises UnicodeDecodeError when you ask for the details of such a tensor. C++
    programs are not affected.

What to do
    Convert the model again with plain names.

Limits
    Messages show the invalid bytes as escapes.
"""

from outlive.rules.api import Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F116", "text-not-utf8", Severity.WARNING, since="0.1")(
    flaws(
        "bad-text",
        "a tool wrote the name in another encoding, or the bytes are damaged",
        Remedy("convert the model again with plain names", Tag.CHANGES_MODEL),
    )
)
