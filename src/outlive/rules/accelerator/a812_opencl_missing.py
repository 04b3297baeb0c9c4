"""OpenCL library not found

What it checks
    The log does not say that the delegate or the loader could not open libOpenCL.so.

Why it matters
    Since Android 12, an app must declare the library in its manifest. Without OpenCL the delegate falls
    back to OpenGL, which supports fewer models.

What to do
    Declare the library in AndroidManifest.xml. If the phone has none, run on the CPU.

Limits
    The log does not say whether the phone has the library.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

opencl_missing = rule("A812", "opencl-missing", Severity.ERROR, since="0.2", cause="delegate-refused")(
    tell_from_log("A812")
)
