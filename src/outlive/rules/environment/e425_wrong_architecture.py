"""Library built for another processor

What it checks
    No loader of Linux, macOS, Android or Windows reports a file of another architecture.

Why it matters
    A library for x86 cannot run on ARM, and a 32-bit library cannot run in a 64-bit process.

What to do
    Install the package with the machine's own Python, and set the platform in Docker.

Limits
    The message does not say whether an emulator is involved.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

wrong_architecture = rule("E425", "wrong-architecture", Severity.ERROR, since="0.2", cause="missing-runtime")(
    tell_from_log("E425")
)
