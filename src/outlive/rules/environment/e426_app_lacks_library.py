"""the app lacks a native library of the runtime

What it checks
    UnsatisfiedLinkError, missing classes and methods, dyld and linker errors.

Why it matters
    An app carries the runtime in parts, for each processor. One part of another version, or none for this
    processor, ends it.

What to do
    Take all parts from one version, and leave no ABI out.

Limits
    What is inside the app is not looked at.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

app_lacks_library = rule("E426", "app-lacks-library", Severity.ERROR, since="0.2", cause="missing-runtime")(
    tell_from_log("E426")
)
