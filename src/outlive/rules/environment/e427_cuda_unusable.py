"""CUDA installation is not usable

What it checks
    The log contains no message of TensorFlow, CUDA or cuDNN about missing libraries, versions or
    drivers.

Why it matters
    A TensorFlow build needs one version of CUDA and cuDNN, and these need a recent driver.

What to do
    Install matching versions (`tensorflow[and-cuda]`), or run on the CPU.

Limits
    outlive knows the installed versions only if the message names them.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

cuda_unusable = rule("E427", "cuda-unusable", Severity.ERROR, since="0.2", cause="missing-runtime")(
    tell_from_log("E427")
)
