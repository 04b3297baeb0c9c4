"""memory of a mapped file could not be reached

What it checks
    Whether the process ended by SIGBUS, or a library says that shared memory is full.

Why it matters
    Memory that belongs to a file is read when it is touched: if the file was cut, the disk or /dev/shm is
    full, or the address is not aligned, the process is ended.

What to do
    Give containers more shared memory, replace models by rename, align buffers.

Limits
    Which file it was is not in the log.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

mapped_memory_lost = rule("D532", "mapped-memory-lost", Severity.ERROR, since="0.2")(tell_from_log("D532"))
