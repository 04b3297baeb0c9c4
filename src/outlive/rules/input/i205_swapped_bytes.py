"""the input has its bytes in the order of another machine

What it checks
    Whether the numbers are stored in this machine's byte order.

Why it matters
    LiteRT copies the bytes as they are and computes with numbers that make no sense, in silence.

What to do
    Convert the array to the native byte order. Arrays read from files (FITS, IDX, np.fromfile with '>f4')
    often have the other one.

Limits
    None known.
"""

from outlive.rules.api import Remedy, Severity, Tag, rule
from outlive.rules.calls import refused_call

RULE = rule("I205", "swapped-bytes", Severity.ERROR, since="0.1", cause="wrong-dtype")(
    refused_call(
        "byte-order",
        "input",
        "the runtime takes the bytes as they are, so it would compute with other numbers",
        Remedy(
            "convert it to this machine's byte order",
            Tag.SAME_RESULTS,
            command="value = value.astype(value.dtype.newbyteorder('='))",
        ),
    )
)
