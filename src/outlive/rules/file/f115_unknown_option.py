"""an option has a value that is not in the known schema

What it checks
    Enums and unions in the options of operators and elsewhere against the schema.

Why it matters
    Kernels compare such values with those they know and take the last branch for the rest; some index
    tables with them. It hurts if the runtime does not know the value either.

What to do
    Update outlive and the runtime if the model comes from a newer converter; otherwise fetch it again.

Limits
    The schema known here is that of the LiteRT that outlive follows.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F115", "unknown-option", Severity.WARNING, since="0.1", cause="flatbuffer-corrupt")(
    flaws("unknown-value", "it comes from a newer converter, or the byte is damaged")
)
