"""the memory of the GPU ran out

What it checks
    Whether an allocator of a GPU, CUDA or TensorFlow says that a tensor did not fit.

Why it matters
    The memory of a GPU is smaller than the machine's, and other processes hold part of it.

What to do
    Use a smaller batch, free the GPU, and let TensorFlow take only what it needs.

Limits
    How much other processes held is not in the log.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

gpu_out_of_memory = rule("D530", "gpu-out-of-memory", Severity.ERROR, since="0.2", cause="out-of-memory")(
    tell_from_log("D530")
)
