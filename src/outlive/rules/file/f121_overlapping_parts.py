"""Overlapping data in the file

What it checks
    The decoded size of the file stays close to its real size.

Why it matters
    A small file with overlapping tables can exhaust the memory of any reader. It is an attack, or
    heavily damaged.

What to do
    Do not use the file.

Limits
    The reader stops at four times the size of the file.
"""

from outlive.rules.api import Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F121", "overlapping-parts", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    flaws(
        "overlap",
        "no converter writes such a file; to read on would need far more memory than the file has bytes",
        Remedy("do not use this file; get the model from a source you trust", Tag.CHANGES_MODEL),
    )
)
