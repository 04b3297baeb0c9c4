"""the heap was found damaged

What it checks
    What malloc, Windows and sanitizers print when the bookkeeping of the heap was overwritten.

Why it matters
    The fault happened earlier than it was found: in a kernel with wrong sizes, or where libraries that do
    not fit each other share objects.

What to do
    Run the model alone with `outlive diagnose`; if it is sound, make a new environment.

Limits
    Who wrote past its memory is not in the message.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

heap_corrupted = rule("D533", "heap-corrupted", Severity.ERROR, since="0.2")(tell_from_log("D533"))
