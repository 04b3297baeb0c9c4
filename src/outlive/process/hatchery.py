"""Where workers come from: forked by a nursery, or started afresh where that cannot be.

Hatchery.hatch(order, descriptors) ──> Hatched(pid, ...)        both kinds
Hatchery.is_gone(number)           ──> True once its maker has seen it end, whatever still holds its pipes
Hatchery.ending(number)            ──> signal, exit code, evidence of the tracer, its last words
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from outlive.apart import run_apart

START = str(Path(__file__).with_name("child") / "start.py")
# What one Python's environment says of where its modules are misleads another Python.
_OF_THIS_PYTHON = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__")

# Packages whose interpreter a worker can use.
RUNTIMES = ("litert", "tensorflow", "tflite_runtime")


class CannotHatch(Exception):
    """No worker can be had; the words say why."""


class MakerGone(CannotHatch):
    """The process that makes workers has ended: another one will make them."""


class TooSlow(CannotHatch):
    """No worker was ready before the caller's deadline."""


class RuntimeAbsent(CannotHatch):
    """The runtime is not installed in the environment of the worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a worker is made of: the runtime, the Python it runs under, and what its environment adds."""

    runtime: str
    python: str
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hatched:
    """A new worker, as far as its maker knows it."""

    number: int
    pid: int
    untraced: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a worker ended; `evidence` is what the tracer saw, `unseen` why nobody saw more.

    `ended_by` is "memory" if its maker ended it for holding too much; `oom_kills` is how often the system had
    killed for want of memory a moment before and after, None if nobody looked. The last words are those of a
    worker whose files its maker keeps; a guarded worker's caller keeps them itself.
    """

    signal: int | None = None
    exit_code: int | None = None
    ended_by: str = ""
    unseen: str = ""
    oom_kills: tuple[int, int] | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    stderr_tail: str = ""
    fault_trace: str = ""


class Hatchery(Protocol):
    """A maker of workers."""

    @property
    def in_use(self) -> bool:
        """True while somebody has a worker of it."""

    def hatch(
        self,
        order: dict[str, Any],
        descriptors: list[int],
        handed_over: Callable[[], None] = lambda: None,
        deadline: float | None = None,
    ) -> Hatched:
        """Make a worker that serves these descriptors.

        `handed_over` is called as soon as the caller may close its copies, before the worker is there.
        `TooSlow` if it is not there at the deadline.
        """

    def is_gone(self, number: int) -> bool:
        """True once the worker has been seen to end, or nobody is left who could see it."""

    def words(self, number: int) -> dict[str, str]:
        """What a living worker has printed last: `stderr_tail` and `fault_trace`."""

    def end(self, number: int) -> None:
        """End a worker at once; wait for its end a moment, and no longer."""

    def kill(self, number: int) -> None:
        """End a worker at once."""

    def abort(self, number: int) -> None:
        """End a worker so that it leaves word of what it was doing; at once if it does not obey."""

    def interrupt(self, number: int) -> None:
        """Do to a worker what Ctrl-C does."""

    def watch(self, number: int, most_bytes: int | None) -> None:
        """Have a worker ended if it holds more private memory than this, where somebody can watch it."""

    def share(self, number: int, shared_bytes: int) -> None:
        """A worker shares this much with its owner, which counts against nobody's limit."""

    def retire(self, number: int) -> None:
        """Nobody waits for a worker any more: it may end by itself, and is ended if it does not."""

    def ending(self, number: int, timeout_s: float) -> Ending:
        """How a worker ended; without signal and exit code if that cannot be learned in time."""

    def close(self) -> None:
        """End all workers."""

    def abandon(self) -> None:
        """In a forked child of the program: let go of what is the parent's, without ending anything."""


def child_command(kind: Kind, role: str, arguments: dict[str, Any]) -> list[str]:
    """The command line of a child process."""
    path = [entry for entry in sys.path if entry and isinstance(entry, str)] if _is_ours(kind) else []
    return [kind.python, START, role, json.dumps({**arguments, "sys_path": path})]


def _is_ours(kind: Kind) -> bool:
    return os.path.abspath(kind.python) == os.path.abspath(sys.executable)


# Held while a process is being started, and by a fork of the program: a forked child must not get a copy of a
# pipe's end that is the worker's, or the parent would never see the end of file that means its death. Nobody
# waits for another process while holding it.
starting = threading.RLock()
# Whatever this program started and has not yet waited for: an interrupt may come between any two lines, and
# what nobody waits for stays in the process table.
_unburied: set[subprocess.Popen[bytes]] = set()


def bury(timeout_s: float = 0.0) -> None:
    """Wait for processes that have ended, and so long at the most for those that are about to."""
    end = time.monotonic() + timeout_s
    while True:
        _unburied.difference_update([process for process in list(_unburied) if process.poll() is not None])
        # Processes whose start was interrupted: Python itself waits for those only when it starts the next.
        getattr(subprocess, "_cleanup", lambda: None)()
        if not (_unburied or getattr(subprocess, "_active", set())) or time.monotonic() >= end:
            return
        time.sleep(0.002)


def wait_for_end(process: subprocess.Popen[bytes], timeout_s: float) -> None:
    """Wait for a process that was told to end, and end it if it does not.

    An interrupt is raised only after that, or its remains would stay in the process table.
    """
    interrupt: BaseException | None = None
    while process.returncode is None:
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
        except BaseException as error:
            interrupt = error
            process.kill()
    if interrupt is not None:
        raise interrupt


def disown() -> None:
    """In a forked child of the program: they are the parent's to wait for."""
    for process in _unburied:
        process.returncode = 0
    _unburied.clear()


def spawn(
    kind: Kind, role: str, arguments: dict[str, Any], descriptors: list[int], errors: int
) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own: a Ctrl-C in the terminal is not for it."""
    misleading = () if _is_ours(kind) else _OF_THIS_PYTHON
    own = {k: v for k, v in os.environ.items() if k not in misleading} | dict(kind.environment)
    bury()
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        process = subprocess.Popen(
            child_command(kind, role, arguments),
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            env=own,
        )
        _unburied.add(process)
        started.append(process)

    try:
        run_apart(start)
    except (MemoryError, OSError, subprocess.SubprocessError) as error:
        raise CannotHatch(f"cannot start {kind.python}: {in_words(error)}") from error
    return started[0]


def in_words(error: BaseException) -> str:
    """What the system said, without its number."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
