"""Incompatible protobuf version

What it checks
    The log contains no protobuf message about generated code that is older or newer than the library.

Why it matters
    Message code is generated for one major version of protobuf.

What to do
    Install a protobuf of that version, or update the package.

Limits
    The message does not name the exact version.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

protobuf_mismatch = rule("E423", "protobuf-mismatch", Severity.ERROR, since="0.2", cause="missing-runtime")(
    tell_from_log("E423")
)
