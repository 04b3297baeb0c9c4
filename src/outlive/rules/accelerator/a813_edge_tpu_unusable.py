"""Edge TPU not usable

What it checks
    The log contains no device or library error of libedgetpu, libusb or the delegate loader.

Why it matters
    The messages name no reason: the device may be absent, busy or inaccessible, or the versions of
    libedgetpu, the runtime and the compiled model do not match.

What to do
    Check the device first (lsusb, /dev/apex_0, groups), then use matching versions.

Limits
    The message alone does not tell which of the reasons applies.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

edge_tpu_unusable = rule("A813", "edge-tpu-unusable", Severity.ERROR, since="0.2", cause="delegate-refused")(
    tell_from_log("A813")
)
