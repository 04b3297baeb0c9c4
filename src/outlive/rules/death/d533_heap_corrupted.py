"""Heap corruption

What it checks
    The log contains no heap error of malloc, Windows or a sanitizer.

Why it matters
    The corruption happened before it was detected: in a kernel with wrong sizes, or between
    incompatible libraries that share objects.

What to do
    Run the model alone with `outlive diagnose`. If it is correct, create a new environment.

Limits
    The message does not name the code that wrote past its memory.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

heap_corrupted = rule("D533", "heap-corrupted", Severity.ERROR, since="0.2")(tell_from_log("D533"))
