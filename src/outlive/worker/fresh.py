"""Workers started afresh: for runtimes that must not be forked, and for systems that cannot fork."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
from typing import Any

from outlive.worker.hatchery import Ending, Hatched, Kind, spawn

_NAMES = ("commands", "replies", "block", "errors", "faults", "content")
_OBEY_S = 1.0


class FreshHatchery:
    """Starts a new interpreter for each worker; slower, and without a tracer, but the same to its user."""

    def __init__(self, kind: Kind) -> None:
        """Nothing is started before it is asked for."""
        self._kind = kind
        self._numbers = itertools.count(1)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def in_use(self) -> bool:
        """True while somebody has a worker of it."""
        return bool(self._processes)

    def hatch(self, order: dict[str, Any], descriptors: list[int]) -> Hatched:
        """Start a worker that serves these descriptors."""
        number = next(self._numbers)
        names = order.get("names", _NAMES)
        ends = dict(zip(names, descriptors, strict=False))
        arguments = {**order, **ends, "parent": os.getpid()}
        errors = descriptors[names.index("errors")]
        process = spawn(self._kind, order.get("program", "worker"), arguments, descriptors, errors)
        self._processes[number] = process
        facts = {"runtime": self._kind.runtime}
        return Hatched(number=number, pid=process.pid, untraced="the worker was not forked", facts=facts)

    def kill(self, number: int) -> None:
        """End a worker at once."""
        process = self._processes.get(number)
        if process is not None:
            process.kill()

    def abort(self, number: int) -> None:
        """End a worker so that its faulthandler says where it was."""
        process = self._processes.get(number)
        if process is None or not hasattr(os, "fork"):
            return self.kill(number)
        process.send_signal(signal.SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_OBEY_S)
        return self.kill(number)

    def interrupt(self, number: int) -> None:
        """Do to a worker what Ctrl-C does."""
        process = self._processes.get(number)
        if process is not None and hasattr(os, "fork"):
            process.send_signal(signal.SIGINT)

    def watch(self, number: int, most_bytes: int | None) -> None:
        """Nobody watches here: the system's own limit has to do."""

    def retire(self, number: int) -> None:
        """Nobody waits for a worker any more: it may end by itself, and is ended if it does not."""
        process = self._processes.get(number)
        if process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_OBEY_S)
        self.kill(number)
        self.ending(number, timeout_s=_OBEY_S)

    def ending(self, number: int, timeout_s: float) -> Ending:
        """How a worker ended."""
        process = self._processes.get(number)
        if process is None:
            return Ending(unseen="its end has been told already")
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return Ending(unseen=f"it has not ended after {timeout_s:g} s")
        self._processes.pop(number, None)
        if code == 0 and signal.getsignal(getattr(signal, "SIGCHLD", 0)) is not signal.SIG_DFL:
            return Ending(unseen="this program does something of its own with ended processes (SIGCHLD)")
        return Ending(signal=-code if code < 0 else None, exit_code=code if code >= 0 else None)

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
