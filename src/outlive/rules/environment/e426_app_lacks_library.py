"""The app lacks a native library

What it checks
    The log contains no UnsatisfiedLinkError, no missing class or method, and no dyld or linker error.

Why it matters
    An app contains the runtime in parts, for each processor. A part of another version, or a missing
    ABI, ends the app.

What to do
    Use the same version for all parts, and include every ABI.

Limits
    The rule does not open the app.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

app_lacks_library = rule("E426", "app-lacks-library", Severity.ERROR, since="0.2", cause="missing-runtime")(
    tell_from_log("E426")
)
