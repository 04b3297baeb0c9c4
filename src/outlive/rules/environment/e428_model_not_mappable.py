"""the model was given in a form that cannot be mapped

What it checks
    Whether Android says that an asset is compressed, or that a buffer is no direct one.

Why it matters
    The runtime reads the model in place. A compressed asset or a buffer on the Java heap has no place.

What to do
    Keep .tflite files uncompressed in the app, and give a mapped file or a direct buffer.

Limits
    The file itself may be sound: it is not looked at. What the app's packer did to it is only known by what
    Android says.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

model_not_mappable = rule("E428", "model-not-mappable", Severity.ERROR, since="0.2")(tell_from_log("E428"))
