"""Corrupt FlatBuffer layout

What it checks
    The FlatBuffer layout of every table that is read: field lists lie inside the file, fields inside
    their table, offsets have a target, strings end with a zero byte.

Why it matters
    The runtime follows these offsets without checks, and reads or writes outside its memory.

What to do
    Download or convert the model again. No converter writes such a file.

Limits
    The rule checks the tables of the schema, not the contents of weights.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT, flaws

RULE = rule("F111", "broken-layout", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    flaws("malformed", "the file was damaged or changed after conversion", FETCH_OR_CONVERT)
)
