"""the file refers to the same bytes over and over

What it checks
    How much the file unfolds into: an honest file refers to each of its bytes about once.

Why it matters
    A small file built this way would take all memory of whatever reads it: an attack, or heavy damage.

What to do
    Do not use the file.

Limits
    Reading stops when four times the file's size has been decoded.
"""

from outlive.rules.api import Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F121", "overlapping-parts", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    flaws(
        "overlap",
        "no converter writes this; reading on would cost far more memory than the file has bytes",
        Remedy("do not use this file; fetch the model from a source you trust", Tag.CHANGES_MODEL),
    )
)
