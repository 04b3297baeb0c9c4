"""The workers that wait for guarded calls: kept warm, used again, replaced when they have grown or died."""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
import time
import weakref

from outlive.guarding.guard_process import GuardProcess
from outlive.process.child.guard import message_frames as wire
from outlive.process.operating_system import at_fork
from outlive.process.worker_factory import NO_RUNTIME, CannotStartWorker
from outlive.threads import require_thread

_MOST_IDLE = 4
# How long a call waits for a worker that is being started in the background before it starts its own.
_PATIENCE_S = 30.0
TENSORFLOW = "tensorflow"

alive: weakref.WeakSet[GuardProcess] = weakref.WeakSet()


class Pool:
    """Idle workers of this process."""

    def __init__(self) -> None:
        """None yet."""
        self._changed = threading.Condition(threading.RLock())
        self._idle: list[GuardProcess] = []
        self._starting: list[str] = []  # the runtimes of spares that are on their way

    def take(
        self, *, fresh: bool, tensorflow: bool, known: int, sandbox: str = "off", plain: bool = False
    ) -> GuardProcess:
        """A worker of one's own: one that knows the function, else any, else a new one.

        One that has run a model is for `plain` calls only, and one that has run anything else never is.
        Plain calls that need TensorFlow get one that is forked with it.
        """
        with self._changed:
            if self._idle and not fresh and known in self._idle[-1].functions:
                return self._idle.pop()  # the usual case, without a look at the others
            runtime = _runtime(tensorflow, plain)
            end = time.monotonic() + _PATIENCE_S
            while True:
                found = self._choose(fresh, tensorflow, known, sandbox, plain, runtime)
                if found is not None:
                    return found
                if (
                    sandbox != "off"
                    or runtime not in self._starting
                    or not self._changed.wait(max(0.0, end - time.monotonic()))
                ):
                    break
        return _start(tensorflow, runtime, sandbox)

    def _choose(
        self, fresh: bool, tensorflow: bool, known: int, sandbox: str, plain: bool, runtime: str
    ) -> GuardProcess | None:
        best: GuardProcess | None = None
        best_rank = (-1, -1, -1)
        for process in list(self._idle):
            if not process.is_alive():
                self._idle.remove(process)
                process.end()
                continue
            if process.sandbox != sandbox or process.runtime != runtime:
                continue
            if not tensorflow and not process.has_loaded():
                continue  # it takes seconds to load what this call does not need
            rank = (known in process.functions, bool(process.preloaded) == tensorflow, process.calls)
            fits = not process.calls or (not fresh and process.is_plain == plain)
            if fits and rank > best_rank:
                best, best_rank = process, rank
        if best is not None:
            self._idle.remove(best)
            best.was_idle = True
        return best

    def give(self, process: GuardProcess) -> None:
        """Take a worker back; the oldest goes if there are too many."""
        with self._changed:
            self._idle.append(process)
            if self._starting:  # only then a call may wait
                self._changed.notify_all()
            if len(self._idle) <= _MOST_IDLE:
                return
            oldest = self._idle.pop(0)
        oldest.retire()

    def warm(self, tensorflow: bool, plain: bool = False) -> None:
        """Have a spare worker started in the background, if none is idle or on its way."""
        if "outlive_child" in sys.modules:
            return  # we are a worker ourselves: what we need is started when it is needed
        runtime = _runtime(tensorflow, plain)
        with self._changed:
            spares = [one for one in self._idle if not one.calls and one.runtime == runtime]
            if runtime in self._starting or any(bool(one.preloaded) >= tensorflow for one in spares):
                return
            self._starting.append(runtime)
        work = (tensorflow, runtime)
        thread = threading.Thread(target=self._warm, args=work, name="outlive-spare", daemon=True)
        try:
            require_thread()
            thread.start()
        except (MemoryError, RuntimeError):  # no more threads: the call will start its own
            with self._changed:
                self._starting.remove(runtime)

    def _warm(self, tensorflow: bool, runtime: str) -> None:
        spare: GuardProcess | None = None
        try:
            with contextlib.suppress(CannotStartWorker, wire.Closed, OSError):  # the call will say so itself
                spare = _start(tensorflow, runtime)
        finally:
            with self._changed:
                self._starting.remove(runtime)
                if spare is not None:
                    self._idle.append(spare)
                self._changed.notify_all()

    def close(self) -> None:
        """End all that are idle."""
        with self._changed:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def forget(self) -> None:
        """In a forked child of the program: the workers are the parent's."""
        self.__init__()  # type: ignore[misc]


def _start(tensorflow: bool, runtime: str, sandbox: str = "off") -> GuardProcess:
    process = GuardProcess(sandbox=sandbox, runtime=runtime)
    alive.add(process)
    if tensorflow:
        process.preload((TENSORFLOW,))
    return process


def _runtime(tensorflow: bool, plain: bool) -> str:
    """What a worker has loaded from the start: a user's own function may want to load it differently."""
    return TENSORFLOW if tensorflow and plain else NO_RUNTIME


pool = Pool()


def _close_all() -> None:
    pool.close()
    for process in list(alive):
        process.end()


def _part() -> None:
    """In a forked child: let go of the workers, and keep results that lie in shared memory as our own."""
    pool.forget()
    for process in list(alive):
        with contextlib.suppress(Exception):  # a child that never uses a guard must not fall over here
            process.part()
    alive.clear()


at_fork(after_in_child=_part)
atexit.register(_close_all)
