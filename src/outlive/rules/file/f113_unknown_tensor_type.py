"""Unknown tensor type

What it checks
    The schema has the type of every tensor.

Why it matters
    The runtime refuses the model ("Unsupported data type"), or the byte is damaged and the tensor has
    another type.

What to do
    If the model comes from a newer converter, update outlive and the runtime. Otherwise download the
    file again.

Limits
    The rule knows the schema of the LiteRT version that outlive follows. A newer one may have added the
    type.
"""

from outlive.kernels.tables import LITERT_VERSION
from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import UPDATE_OR_FETCH, flaws

RULE = rule("F113", "unknown-tensor-type", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    flaws("unknown-type", f"ai-edge-litert {LITERT_VERSION} and older do not have this type", UPDATE_OR_FETCH)
)
