"""the process behind the notebook died

What it checks
    What Jupyter, VS Code, nbclient and Colab print when a kernel is gone.

Why it matters
    The server sees only that the process ended. The reason is in the kernel's own output, in the system's
    log, or nowhere.

What to do
    Let outlive record it: `outlive.protect()` in the first cell, `outlive notebook on` for every kernel.

Limits
    Whether it was a crash or a kill is not in these lines.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

notebook_kernel_died = rule("D534", "notebook-kernel-died", Severity.ERROR, since="0.2")(
    tell_from_log("D534")
)
