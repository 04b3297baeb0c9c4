"""native libraries that do not fit each other were loaded

What it checks
    Undefined symbols, two copies of one library, and crashes at import or exit.

Why it matters
    Native code is built against one version of what it calls. Another one lacks functions or lays memory
    out in another way.

What to do
    Install versions that belong together, in a new environment.

Limits
    Which of two libraries is the wrong one is often open.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

libraries_do_not_match = rule(
    "E422", "libraries-do-not-match", Severity.ERROR, since="0.2", cause="missing-runtime"
)(tell_from_log("E422"))
