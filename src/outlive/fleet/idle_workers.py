"""The workers of an engine process: one nursery for many tasks, ended when no task comes any more.

An engine process may live long after the scan (a Dask or Ray worker does), so nothing of ours stays in it;
what its user has open there is left alone. A process that this machine's scan started itself goes with it,
even if the scan is killed. A thread is asked for before one is started: see `threads.py`.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from outlive.process.factories import close_idle_factories
from outlive.threads import require_thread

# Longer than it takes until the next task.
_IDLE_S = 5.0
_GLANCE_S = 1.0


class WorkerLifetime:
    """Counts the tasks of this process, and ends its nurseries some time after the last."""

    def __init__(self, idle_s: float = _IDLE_S) -> None:
        """Nothing runs yet."""
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._tasks = 0
        self._timer: threading.Timer | None = None

    @property
    def idle(self) -> bool:
        """True if nothing runs, and no timer waits."""
        return self._tasks == 0 and self._timer is None

    @contextmanager
    def task(self) -> Iterator[None]:
        """For the time of a task."""
        with self._lock:
            self._tasks += 1
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        try:
            yield
        finally:
            with self._lock:
                self._tasks -= 1
                if not self._tasks:
                    self._wait_to_leave()

    def _wait_to_leave(self) -> None:
        timer = threading.Timer(self._idle_s, self._leave)
        timer.daemon = True
        with suppress(MemoryError, RuntimeError):  # without a thread they end with this process
            require_thread()
            timer.start()
            self._timer = timer

    def _leave(self) -> None:
        with self._lock:  # a task that begins now waits, and then starts a nursery of its own
            if not self._tasks:
                self._timer = None
                close_idle_factories()


WORKER_LIFETIME = WorkerLifetime()
_guarded: set[int] = set()


def end_with(owner: int) -> None:
    """End this process when the one that started it is gone, and leave Ctrl-C to that one.

    Only in a process that was started for this: not in the owner itself, nor in one of a cluster.
    """
    if not owner or os.getppid() != owner or owner in _guarded:
        return
    _guarded.add(owner)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(MemoryError, RuntimeError):  # no thread to watch with: it ends when it gets no more tasks
        require_thread()
        threading.Thread(target=_watch, args=(owner,), daemon=True).start()


def _watch(owner: int) -> None:
    while os.getppid() == owner:
        time.sleep(_GLANCE_S)
    os._exit(1)  # our nursery sees our end, and goes as well
