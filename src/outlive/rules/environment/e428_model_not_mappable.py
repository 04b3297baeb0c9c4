"""The model cannot be memory-mapped

What it checks
    Android does not report a compressed asset or a buffer that is not direct.

Why it matters
    The runtime reads the model in place. A compressed asset, or a buffer on the Java heap, has no fixed
    address.

What to do
    Keep .tflite files uncompressed in the app, and pass a mapped file or a direct buffer.

Limits
    The rule does not read the file, which may be valid. It knows only Android's message.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

model_not_mappable = rule("E428", "model-not-mappable", Severity.ERROR, since="0.2")(tell_from_log("E428"))
