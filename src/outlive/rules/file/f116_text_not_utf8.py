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

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import sight_flaws


@rule("F116", "text-not-utf8", Severity.WARNING, since="0.1")
def text_not_utf8(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    why = "a tool wrote the name in another encoding, or its bytes are damaged"
    yield from sight_flaws(file, "bad-text", why)
