"""a constant has fewer bytes than its shape needs

What it checks
    The bytes of every constant against its shape and type (sparse, string and resource tensors aside).

Why it matters
    Runtimes that check refuse the model; those that do not read past the constant's end.

What to do
    Fetch or convert the model again.

Limits
    More bytes than needed are allowed, as in the runtime.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT, flaws

RULE = rule("F119", "short-constant", Severity.ERROR, since="0.1", cause="shape-mismatch")(
    flaws(
        "short-constant",
        "the shape, the type or the buffer of the constant was changed without the others",
        FETCH_OR_CONVERT,
    )
)
