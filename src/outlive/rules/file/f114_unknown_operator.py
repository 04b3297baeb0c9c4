"""the model uses an operator that is not in the known schema

What it checks
    The code of every operator against the schema.

Why it matters
    A runtime that does not know the operator refuses the model. It would run only with a runtime newer
    than the one that outlive follows.

What to do
    Update outlive and the runtime, or convert the model for an older runtime.

Limits
    The schema known here is that of the LiteRT that outlive follows.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F114", "unknown-operator", Severity.WARNING, since="0.1", cause="unsupported-op")(
    flaws("unknown-operator", "it comes from a newer converter, or the byte is damaged")
)
