"""the Edge TPU cannot be used

What it checks
    What libedgetpu, libusb and the loader of delegates print when the device or its library does not
    work.

Why it matters
    The messages name no reason: the device may be absent, busy or forbidden, or the versions of
    libedgetpu, the runtime and the compiled model do not fit each other.

What to do
    Look at the device first (lsusb, /dev/apex_0, groups), then use versions that belong together.

Limits
    Which of the reasons it is, the message alone does not tell.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

edge_tpu_unusable = rule("A813", "edge-tpu-unusable", Severity.ERROR, since="0.2", cause="delegate-refused")(
    tell_from_log("A813")
)
