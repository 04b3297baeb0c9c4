"""The operating system under a child process: the one place that chooses the platform (see CONTRIBUTING.md).

A module is loaded when it is first asked for: the watcher of a kernel is to stay small.
"""

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .posix import (
        memory_limit,
        memory_watchdog,
        own_process,
        own_resources,
        sandbox,
        segment_memory,
        tensor_overlay,
        trace_kernel,
        watched_process,
    )

__all__ = [
    "memory_limit", "memory_watchdog", "own_process", "own_resources", "sandbox", "segment_memory",
    "tensor_overlay", "trace_kernel", "watched_process",
]  # fmt: skip


def __getattr__(name):  # type: ignore[no-untyped-def]
    if name not in __all__:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return importlib.import_module(".posix." + name, __package__)
