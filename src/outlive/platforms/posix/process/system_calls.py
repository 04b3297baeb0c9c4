"""System calls as they are, also in programs in which eventlet has replaced them.

eventlet takes `select.poll` away, makes `os.write` try for ever to write to a process that is gone, and lets
`os.read` wait without a time limit (eventlet/green/os.py, green/select.py). Workers are not patched.
"""

import errno
import functools
import importlib.util
import os
import select
import time
from posix import read, write  # eventlet replaces the names in `os`, not in the module they come from
from types import ModuleType
from typing import Any

__all__ = ["BLIND", "READABLE", "WRITABLE", "poll", "read", "set_nonblocking", "wait", "write"]

READABLE, WRITABLE = 1, 4  # asm-generic/poll.h and sys/poll.h of macOS: POLLIN, POLLOUT
BLIND: list[tuple[int, int]] = []


def poll(*descriptors: int, events: int = READABLE) -> Any:
    """A new poll object that looks at these descriptors."""
    found = (getattr(select, "poll", None) or _loaded_again().poll)()
    for descriptor in descriptors:
        found.register(descriptor, events)
    return found


def set_nonblocking(*descriptors: int) -> None:
    """Let reads and writes that would wait raise `BlockingIOError`."""
    for descriptor in descriptors:
        os.set_blocking(descriptor, False)


def wait(poll: Any, timeout_ms: float) -> list[tuple[int, int]]:
    """What a poll object sees; `BLIND`, after the time is over, where the system has no memory to look."""
    try:
        found: list[tuple[int, int]] = poll.poll(timeout_ms)
    except OSError as error:
        # What a handler of the user's raises passes through: a TimeoutError is an OSError too.
        if error.errno != errno.ENOMEM:
            raise
        time.sleep(timeout_ms / 1000)
        return BLIND
    return found


@functools.cache
def _loaded_again() -> ModuleType:
    """A second copy of the module `select`: it has what was taken out of the first (PEP 489)."""
    spec = select.__spec__
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
