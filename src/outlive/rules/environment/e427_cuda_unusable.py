"""CUDA does not work as it is installed

What it checks
    What TensorFlow, CUDA and cuDNN say of missing libraries, versions and drivers.

Why it matters
    A build of TensorFlow takes one version of CUDA and cuDNN, and that needs a driver that is new enough.

What to do
    Install what belongs together (`tensorflow[and-cuda]`), or run on the CPU.

Limits
    The versions that are installed are only known as far as the message names them.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

cuda_unusable = rule("E427", "cuda-unusable", Severity.ERROR, since="0.2", cause="missing-runtime")(
    tell_from_log("E427")
)
