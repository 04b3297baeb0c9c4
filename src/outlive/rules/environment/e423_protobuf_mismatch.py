"""the installed protobuf does not fit the package

What it checks
    What protobuf says of generated code that is older or newer than itself.

Why it matters
    Code for messages is generated for one major version of protobuf.

What to do
    Install a protobuf of that version, or update the package.

Limits
    The exact version that is wanted is not in the message.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

protobuf_mismatch = rule("E423", "protobuf-mismatch", Severity.ERROR, since="0.2", cause="missing-runtime")(
    tell_from_log("E423")
)
