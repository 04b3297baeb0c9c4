"""Unknown option value

What it checks
    The schema has every enum and union value of the operators' options.

Why it matters
    Kernels treat an unknown value like the last one they know, and some use it as an index. The results
    are wrong if the runtime does not know the value either.

What to do
    If the model comes from a newer converter, update outlive and the runtime. Otherwise download the
    file again.

Limits
    The rule knows the schema of the LiteRT version that outlive follows.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import UPDATE_OR_FETCH, flaws

RULE = rule("F115", "unknown-option", Severity.WARNING, since="0.1", cause="flatbuffer-corrupt")(
    flaws("unknown-value", "the model comes from a newer converter, or the byte is damaged", UPDATE_OR_FETCH)
)
