"""a name in the file is not valid UTF-8

What it checks
    Every name and description in the file.

Why it matters
    Python's interpreter raises UnicodeDecodeError when it is asked for details of such a tensor; C++
    does not mind.

What to do
    Convert the model again with plain names.

Limits
    Names are shown with the bad bytes written as escapes.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F116", "text-not-utf8", Severity.WARNING, since="0.1")(
    flaws("bad-text", "a tool wrote the name in another encoding, or its bytes are damaged")
)
