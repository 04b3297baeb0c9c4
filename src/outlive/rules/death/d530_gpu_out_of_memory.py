"""GPU out of memory

What it checks
    No GPU allocator, CUDA or TensorFlow message says that a tensor did not fit.

Why it matters
    A GPU has less memory than the machine, and other processes use part of it.

What to do
    Use a smaller batch, free GPU memory, and enable TensorFlow's memory growth.

Limits
    The log does not say how much memory other processes used.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

gpu_out_of_memory = rule("D530", "gpu-out-of-memory", Severity.ERROR, since="0.2", cause="out-of-memory")(
    tell_from_log("D530")
)
