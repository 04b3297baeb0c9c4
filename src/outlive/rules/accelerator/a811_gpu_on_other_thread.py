"""the GPU delegate ran on another thread than the one that made it

What it checks
    Whether the delegate says that it must run on the thread where it was initialised.

Why it matters
    An OpenGL context belongs to one thread. Calls from another one are refused or crash.

What to do
    Make, run and close interpreter and delegate on one thread, such as a single-thread executor.

Limits
    Which thread made it is not in the log.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

gpu_on_other_thread = rule("A811", "gpu-on-other-thread", Severity.ERROR, since="0.2", cause="call-order")(
    tell_from_log("A811")
)
