"""Required part missing

What it checks
    The model has a subgraph and a list of buffers, each subgraph a list of tensors, each custom
    operator and each signature a name.

Why it matters
    The runtime refuses some of these models, and follows a null pointer in the others.

What to do
    Download or convert the model again.

Limits
    Other rules check the inputs and options that each operator needs.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT, flaws

RULE = rule("F120", "missing-part", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    flaws(
        "missing",
        "the tool that wrote the file omitted the part, or the tables are damaged",
        FETCH_OR_CONVERT,
    )
)
