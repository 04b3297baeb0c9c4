"""Incompatible native libraries

What it checks
    The log contains no undefined symbol, no second copy of a library, and no crash at import or exit.

Why it matters
    Native code is built against one version of its dependencies. Another version lacks functions or
    uses another memory layout.

What to do
    Install matching versions in a new environment.

Limits
    The log often does not tell which of two libraries is the wrong one.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

libraries_do_not_match = rule(
    "E422", "libraries-do-not-match", Severity.ERROR, since="0.2", cause="missing-runtime"
)(tell_from_log("E422"))
