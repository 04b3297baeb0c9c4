"""a tensor has a type that is not in the known schema

What it checks
    The type of every tensor against the schema.

Why it matters
    The runtime refuses the model ('Unsupported data type'), or the byte is damaged and the tensor is
    something else.

What to do
    Update outlive and the runtime if the model comes from a newer converter; otherwise fetch it again.

Limits
    The schema known here is that of the LiteRT that outlive follows; a newer one may have added the type.
"""

from outlive.kernels.tables import LITERT_VERSION
from outlive.rules.api import Severity, rule
from outlive.rules.file.flaws import flaws

RULE = rule("F113", "unknown-tensor-type", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")(
    flaws("unknown-type", f"ai-edge-litert {LITERT_VERSION} and older know no type of this number")
)
