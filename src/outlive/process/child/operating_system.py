"""The operating system under a child process: modules of the platform's package (see CONTRIBUTING.md).

A module is loaded when it is first asked for: the watcher of a kernel is to stay small.
"""

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from outlive.platforms.posix.child import (
        memory_limit,
        memory_watchdog,
        nursery,
        own_process,
        own_resources,
        sandbox,
        segment_memory,
        tensor_overlay,
        traced_process,
        watched_process,
    )
    from outlive.platforms.posix.child.tracing import backtrace, op_nodes, symbols, tracee

__all__ = [
    "backtrace", "memory_limit", "memory_watchdog", "nursery", "op_nodes", "own_process", "own_resources",
    "sandbox", "segment_memory", "symbols", "tensor_overlay", "traced_process", "tracee", "watched_process",
]  # fmt: skip
# For the nursery and the tracer of a kernel alone: a platform may do without all of them.
_TRACING = ("backtrace", "op_nodes", "symbols", "tracee")
# The package of child processes itself where it was loaded alone, without outlive.
_ROOT = (__package__ or "").partition(".")[0]


def __getattr__(name):  # type: ignore[no-untyped-def]
    if name not in __all__:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    folder = "child.tracing." if name in _TRACING else "child."
    return importlib.import_module(_ROOT + ".platforms").load(folder + name)
