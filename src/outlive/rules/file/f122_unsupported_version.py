"""Unsupported schema version

What it checks
    The schema version is 3.

Why it matters
    Runtimes refuse every other version.

What to do
    Convert the model again with a current converter.

Limits
    Versions 0 to 2 date from before 2018.
"""

from outlive.rules.api import Remedy, Severity, Tag, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F122", "unsupported-version", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    flaws(
        "bad-version",
        "the converter dates from before 2018, or the number is damaged",
        Remedy("convert the model again with a current converter", Tag.CHANGES_MODEL),
    )
)
