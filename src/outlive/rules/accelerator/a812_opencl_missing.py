"""the GPU delegate found no OpenCL library

What it checks
    Whether the delegate or the loader says that libOpenCL.so could not be opened.

Why it matters
    Since Android 12 an app names the library in its manifest. Without OpenCL the delegate falls back to
    OpenGL, which takes fewer models.

What to do
    Name the library in AndroidManifest.xml; where the phone has none, run on the CPU.

Limits
    Whether the phone has the library is not in the log.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

opencl_missing = rule("A812", "opencl-missing", Severity.ERROR, since="0.2", cause="delegate-refused")(
    tell_from_log("A812")
)
