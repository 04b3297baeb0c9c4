"""a tensor has an impossible shape

What it checks
    That no dimension is negative and that the bytes of the tensor fit a 63-bit number.

Why it matters
    The runtime refuses such a tensor, or its size wraps around to something small and kernels write
    past its end.

What to do
    Fetch or convert the model again. An open dimension belongs into the shape signature, not into the
    shape.

Limits
    Shapes that fit a 63-bit number but no real machine are a matter of the memory plan.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT, flaws

RULE = rule("F117", "impossible-shape", Severity.ERROR, since="0.1", cause="shape-mismatch")(
    flaws(
        "bad-shape",
        "the shape was damaged, or a tool wrote an open dimension where a size belongs",
        FETCH_OR_CONVERT,
    )
)
