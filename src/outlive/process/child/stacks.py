"""Room for the stacks of threads in a limit on data, which counts them whole although they are hardly used.

    thread A: reserves 8 MiB ──clone──> stopped by its tracer ──> RLIMIT_DATA + 8 MiB ──> goes on

A limit of our own is set a few stacks higher than it is meant to be; for each thread that has begun its
tracer adds one more, so that the distance stays. A thread that ends makes room for another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# The first piece of its heap that a thread takes (glibc, malloc/arena.c: new_heap, top_pad) comes on top.
_HEAP_BYTES = 1 << 18


class _Known(NamedTuple):
    """The limit as the process set it itself, the threads it had then, and the limit as we have set it."""

    own: int
    threads: int
    raised: int


class StackRoom:
    """Processes of one tracer, and how many threads each has."""

    def __init__(self) -> None:
        """No process is known yet."""
        self._stack_bytes: dict[int, int] = {}
        self._threads: dict[int, int] = {}
        self._known: dict[int, _Known] = {}

    def __len__(self) -> int:
        """How many processes it still knows."""
        return len(self._stack_bytes)

    def expect(self, process: int, stack_bytes: int) -> None:
        """Threads of this process will have stacks of this size."""
        self._stack_bytes[process] = stack_bytes + _HEAP_BYTES

    def forget(self, process: int) -> None:
        """It has ended."""
        self._stack_bytes.pop(process, None)
        self._threads.pop(process, None)
        self._known.pop(process, None)

    def thread_ended(self, process: int) -> None:
        """Its stack may be another's."""
        if process in self._threads:
            self._threads[process] -= 1

    def thread_began(self, process: int) -> None:
        """Raise the limit for the stack of the next one; one that is not ours, and infinity, stay."""
        size = self._stack_bytes.get(process)
        if size is None:
            return
        before = self._threads.get(process, 0)
        self._threads[process] = before + 1
        import resource

        try:
            soft, hard = resource.prlimit(process, resource.RLIMIT_DATA)
            if soft in (-1, resource.RLIM_INFINITY):
                return
            known = self._known.get(process)
            if known is None or soft != known.raised:
                known = _Known(soft, before, soft)
            wanted = known.own + max(0, before + 1 - known.threads) * size
            if wanted > soft:
                _raise(resource, process, wanted, hard)
            self._known[process] = known._replace(raised=max(wanted, soft))
        except (OSError, ValueError):
            pass  # it is gone, or the system does not let us: then its next thread may be refused


def _raise(resource: Any, process: int, wanted: int, hard: int) -> None:
    ceiling = wanted if hard in (-1, resource.RLIM_INFINITY) else min(wanted, hard)
    resource.prlimit(process, resource.RLIMIT_DATA, (ceiling, hard))
