"""Wrong byte order

What it checks
    The array uses this machine's byte order.

Why it matters
    LiteRT copies the bytes unchanged and silently computes with meaningless numbers.

What to do
    Convert the array to native byte order. Arrays read from files (FITS, IDX, np.fromfile with '>f4')
    often use the other one.

Limits
    None known.
"""

from outlive.rules.api import Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("I205", "swapped-bytes", Severity.ERROR, since="0.1", cause="wrong-dtype")(
    refused_call(
        "byte-order",
        "input",
        "the runtime copies the bytes unchanged and computes with wrong numbers",
        Remedy(
            "convert the array to native byte order",
            Tag.SAME_RESULTS,
            command="value = value.astype(value.dtype.newbyteorder('='))",
        ),
    )
)
