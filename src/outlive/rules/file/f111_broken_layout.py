"""the file is not laid out as its format demands

What it checks
    The FlatBuffer layout of every table that is read: field lists inside the file, fields inside their
    table, offsets that lead somewhere, texts with their closing zero.

Why it matters
    The runtime follows these numbers without checking them and reads or writes memory that is not its
    own.

What to do
    Fetch or convert the model again: no converter writes this.

Limits
    It checks the tables of the schema, not the contents of weights.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT, flaws

RULE = rule("F111", "broken-layout", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    flaws("malformed", "bytes were damaged or changed after the model was written", FETCH_OR_CONVERT)
)
