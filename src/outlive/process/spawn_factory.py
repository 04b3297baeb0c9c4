"""Workers started afresh: for runtimes that must not be forked, and for systems that cannot fork."""

import contextlib
import itertools
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from outlive.process import operating_system
from outlive.process.child.wire import OWN_END
from outlive.process.operating_system import close_all, open_last_words, read_last_words
from outlive.process.worker_factory import CannotStartWorker, StartedWorker, WorkerEnd, WorkerKind, in_words

_NAMES = ("commands", "replies", "block", "errors", "faults", "content")
_OBEY_S = 1.0
_END_S = 0.4


class SpawnFactory:
    """Starts a new interpreter for each worker; slower, and without a tracer, but the same to its user."""

    def __init__(self, kind: WorkerKind) -> None:
        """Nothing is started before it is asked for."""
        self._kind = kind
        self._numbers = itertools.count(1)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._last_words: dict[int, list[int]] = {}

    @property
    def in_use(self) -> bool:
        """True while somebody has a worker of it."""
        return bool(self._processes)

    def start_worker(
        self,
        request: dict[str, Any],
        descriptors: list[int],
        handed_over: Callable[[], None] = lambda: None,
        deadline: float | None = None,
    ) -> StartedWorker:
        """Start a worker that serves these descriptors; its caller waits for it as long as it likes."""
        number = next(self._numbers)
        try:
            words = [] if "program" in request else open_last_words()
        except OSError as error:
            raise CannotStartWorker(f"nothing can be opened here: {in_words(error)}") from error
        try:
            given = [*descriptors[:3], *words, *descriptors[3:]]
            self._processes[number] = process = self._spawn(request, given)
        except BaseException:
            close_all(words)
            raise
        self._last_words[number] = words
        handed_over()
        facts = {"runtime": self._kind.runtime}
        return StartedWorker(
            number=number, pid=process.pid, untraced="the worker was not forked", facts=facts
        )

    def _spawn(self, request: dict[str, Any], descriptors: list[int]) -> subprocess.Popen[bytes]:
        names = request.get("names", _NAMES)
        arguments = {**request, **dict(zip(names, descriptors, strict=False)), "parent": os.getpid()}
        errors = descriptors[names.index("errors")]
        return operating_system.spawn(
            self._kind, request.get("program", "worker_main"), arguments, descriptors, errors
        )

    def is_gone(self, number: int) -> bool:
        """True once the worker has ended."""
        process = self._processes.get(number)
        return process is None or process.poll() is not None

    def words(self, number: int) -> dict[str, str]:
        """What a living worker has printed last."""
        return read_last_words(self._last_words.get(number, []))

    def end(self, number: int) -> None:
        """End a worker at once; wait for its end a moment, and no longer."""
        self.kill(number)
        self.ending(number, _END_S)

    def kill(self, number: int) -> None:
        """End a worker at once."""
        self._do(number, subprocess.Popen.kill)

    def _do(self, number: int, action: Callable[[subprocess.Popen[bytes]], None]) -> None:
        if number in self._processes:
            action(self._processes[number])

    def abort(self, number: int) -> None:
        """End a worker so that its faulthandler says where it was."""
        self._do(number, operating_system.abort)

    def interrupt(self, number: int) -> None:
        """Do to a worker what Ctrl-C does."""
        self._do(number, operating_system.interrupt)

    def watch(self, number: int, most_bytes: int | None) -> None:
        """A worker for models watches itself (`watch_self`)."""

    def share(self, number: int, shared_bytes: int) -> None:
        """No limit of this factory counts it."""

    def retire(self, number: int) -> None:
        """A worker is no longer needed: it may end by itself, and is ended if it does not."""
        process = self._processes.get(number)
        if process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_OBEY_S)
        self.kill(number)
        self.ending(number, timeout_s=_OBEY_S)

    def ending(self, number: int, timeout_s: float) -> WorkerEnd:
        """How a worker ended."""
        process = self._processes.get(number)
        if process is None:
            return WorkerEnd(unseen="its end has been told already")
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return WorkerEnd(unseen=f"it has not ended after {timeout_s:g} s")
        self._processes.pop(number, None)
        operating_system.end_group(process.pid)
        files = self._last_words.pop(number, [])
        words = read_last_words(files)
        close_all(files)
        ending = WorkerEnd(
            signal=-code if code < 0 else None,
            exit_code=code if code >= 0 else None,
            stderr_tail=words.get("stderr_tail", ""),
            fault_trace=words.get("fault_trace", ""),
            ended_by="memory" if words.get("stderr_tail", "").endswith(OWN_END) else "",
        )
        if code == 0 and operating_system.exit_codes_are_lost():
            unseen = "this program does something of its own with ended processes (SIGCHLD)"
            return replace(ending, unseen=unseen, exit_code=None)
        return ending

    def close(self) -> None:
        """End all workers."""
        for number in list(self._processes):
            self.kill(number)
            self.ending(number, timeout_s=2)

    def abandon(self) -> None:
        """Let go of another process's workers without ending them."""
        for process in self._processes.values():
            process.returncode = 0  # not ours to wait for
        self._processes.clear()
        for files in self._last_words.values():
            close_all(files)
