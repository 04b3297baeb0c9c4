"""Bus error in a mapped file

What it checks
    The process did not end by SIGBUS, and no library reports full shared memory.

Why it matters
    The system reads mapped memory on first access. If the file was truncated, the disk or /dev/shm is
    full, or the address is unaligned, it ends the process.

What to do
    Give containers more shared memory, replace models by rename, align buffers.

Limits
    The log does not name the file.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

mapped_memory_lost = rule("D532", "mapped-memory-lost", Severity.ERROR, since="0.2")(tell_from_log("D532"))
