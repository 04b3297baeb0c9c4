"""a part that every model must have is missing

What it checks
    That the model has a subgraph and a list of buffers, each subgraph a list of tensors, each custom
    operator and each signature a name.

Why it matters
    The runtime refuses some of these models and follows a null pointer in the others.

What to do
    Fetch or convert the model again.

Limits
    What each operator needs is checked elsewhere.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT, flaws

RULE = rule("F120", "missing-part", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    flaws(
        "missing",
        "the file was written by a tool that left it out, or its tables are damaged",
        FETCH_OR_CONVERT,
    )
)
