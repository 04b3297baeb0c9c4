"""Constant is smaller than its shape

What it checks
    Every constant has as many bytes as its shape and type need. Sparse, string and resource tensors are
    exempt.

Why it matters
    Some runtimes refuse the model. The others read past the end of the constant.

What to do
    Download or convert the model again.

Limits
    Extra bytes are allowed, as in the runtime.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT, flaws

RULE = rule("F119", "short-constant", Severity.ERROR, since="0.1", cause="shape-mismatch")(
    flaws(
        "short-constant",
        "a tool changed the shape, type or buffer of the constant, but not the others",
        FETCH_OR_CONVERT,
    )
)
