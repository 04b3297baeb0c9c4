"""a library was built for another processor

What it checks
    What loaders of Linux, macOS, Android and Windows say of a file of another architecture.

Why it matters
    A library for x86 cannot run on ARM, nor one of 32 bits in a process of 64.

What to do
    Install the package with the machine's own Python, and name the platform in Docker.

Limits
    Whether an emulator is in between is not in the message.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

wrong_architecture = rule("E425", "wrong-architecture", Severity.ERROR, since="0.2", cause="missing-runtime")(
    tell_from_log("E425")
)
