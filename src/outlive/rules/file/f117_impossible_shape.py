"""Invalid tensor shape

What it checks
    No dimension is negative, and the size of the tensor fits a 63-bit number.

Why it matters
    The runtime refuses the tensor, or the size overflows and kernels write past the end of the tensor.

What to do
    Download or convert the model again. A dynamic dimension belongs in the shape signature, not in the
    shape.

Limits
    The memory plan reports shapes that fit a 63-bit number but no real machine.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT, flaws

RULE = rule("F117", "impossible-shape", Severity.ERROR, since="0.1", cause="shape-mismatch")(
    flaws(
        "bad-shape",
        "the shape is damaged, or a tool wrote a dynamic dimension into the shape",
        FETCH_OR_CONVERT,
    )
)
