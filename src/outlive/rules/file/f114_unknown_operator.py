"""Unknown operator

What it checks
    The schema has the code of every operator.

Why it matters
    A runtime that does not know the operator refuses the model. Only a runtime newer than the one that
    outlive follows can run it.

What to do
    Update outlive and the runtime, or convert the model for an older runtime.

Limits
    The rule knows the schema of the LiteRT version that outlive follows.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import UPDATE_OR_FETCH, flaws

RULE = rule("F114", "unknown-operator", Severity.WARNING, since="0.1", cause="unsupported-op")(
    flaws(
        "unknown-operator", "the model comes from a newer converter, or the byte is damaged", UPDATE_OR_FETCH
    )
)
