"""Where workers come from: forked by a nursery, or started afresh where that cannot be.

WorkerFactory.start_worker(request, descriptors) ──> StartedWorker(pid, ...)
WorkerFactory.is_gone(number) ──> True once the factory has seen it end, whatever still holds its pipes
WorkerFactory.ending(number)  ──> signal, exit code, evidence of the tracer, its last words
"""

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from outlive.process.child import runtimes

# The program that every child process runs.
# Packages whose interpreter a worker can use, and the name for workers that use none.
RUNTIMES, NO_RUNTIME = runtimes.NAMES, runtimes.NO_RUNTIME
START = str(Path(__file__).with_name("child") / "start.py")


class CannotStartWorker(Exception):
    """No worker can be had; the words say why."""


class FactoryGone(CannotStartWorker):
    """The process that makes workers has ended: another one will make them."""


class StartTooSlow(CannotStartWorker):
    """No worker was ready before the caller's deadline."""


class RuntimeAbsent(CannotStartWorker):
    """The runtime is not installed in the environment of the worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerKind:
    """What a worker is made of: the runtime, the Python it runs under, and what its environment adds."""

    runtime: str
    python: str
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedWorker:
    """A new worker, as far as its maker knows it."""

    number: int
    pid: int
    untraced: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEnd:
    """How a worker ended; `evidence` is what the tracer saw, `unseen` why no more was seen.

    `ended_by` is "memory" if its maker ended it for holding too much; `oom_kills` is how often the system had
    killed for want of memory a moment before and after, None if unknown. The last words are those of a
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


class WorkerFactory(Protocol):
    """A maker of workers."""

    @property
    def in_use(self) -> bool:
        """True while somebody has a worker of it."""

    def start_worker(
        self,
        request: dict[str, Any],
        descriptors: list[int],
        handed_over: Callable[[], None] = lambda: None,
        deadline: float | None = None,
    ) -> StartedWorker:
        """Make a worker that serves these descriptors.

        `handed_over` is called as soon as the caller may close its copies, before the worker is there.
        `StartTooSlow` if it is not there at the deadline.
        """

    def is_gone(self, number: int) -> bool:
        """True once the worker has been seen to end, or its factory is gone."""

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
        """A worker shares this much with its owner, which counts against no limit."""

    def retire(self, number: int) -> None:
        """A worker is no longer needed: it may end by itself, and is ended if it does not."""

    def ending(self, number: int, timeout_s: float) -> WorkerEnd:
        """How a worker ended; without signal and exit code if that cannot be learned in time."""

    def close(self) -> None:
        """End all workers."""

    def abandon(self) -> None:
        """In a forked child of the program: let go of what is the parent's, without ending anything."""


def in_words(error: BaseException) -> str:
    """What the system said, without its number."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def signal_name(number: int) -> str:
    """The name of a signal, or its number in words."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
