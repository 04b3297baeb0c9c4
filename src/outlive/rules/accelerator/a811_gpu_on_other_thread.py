"""GPU delegate used from another thread

What it checks
    The log does not contain the delegate's message that it must run on the thread that initialized it.

Why it matters
    An OpenGL context belongs to one thread. Calls from another thread fail or crash.

What to do
    Create, run and close interpreter and delegate on one thread, such as a single-thread executor.

Limits
    The log does not name the thread that created the delegate.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

gpu_on_other_thread = rule("A811", "gpu-on-other-thread", Severity.ERROR, since="0.2", cause="call-order")(
    tell_from_log("A811")
)
