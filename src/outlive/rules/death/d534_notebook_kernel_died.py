"""Notebook kernel died

What it checks
    The log contains no message of Jupyter, VS Code, nbclient or Colab about a dead kernel.

Why it matters
    The server knows only that the process ended. The reason is in the kernel's own output or in the
    system log, if at all.

What to do
    Let outlive record it: `outlive.protect()` in the first cell, or `outlive notebook install` for every
    kernel.

Limits
    These lines do not tell a crash from a kill.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

notebook_kernel_died = rule("D534", "notebook-kernel-died", Severity.ERROR, since="0.2")(
    tell_from_log("D534")
)
