"""A worker that keeps its state from call to call, for those who run one thing after the other in it."""

from collections.abc import Callable
from typing import Any

from outlive.guarding.functions import SentFunction
from outlive.guarding.guard_process import GuardProcess
from outlive.guarding.guarded_call import GuardedCall, NotBegun, Terms, caller_state
from outlive.guarding.pool import alive
from outlive.process.limits import Limits
from outlive.process.worker_factory import CannotStartWorker
from outlive.verbs.judging import JUDGE

__all__ = ["CannotStartWorker", "GuardedProcess", "Limits", "NotBegun"]


class GuardedProcess:
    """Functions run in it one after the other, each with its own limits. A death raises and ends it."""

    def __init__(self) -> None:
        """Start it. Raises CannotStartWorker if the system refuses a process."""
        self._process = GuardProcess()
        self._sent: dict[str, SentFunction] = {}
        alive.add(self._process)

    @property
    def is_alive(self) -> bool:
        """True if it can take a call."""
        return self._process.is_alive()

    @property
    def closed(self) -> bool:
        """True after its end."""
        return self._process.closed

    @property
    def grown_bytes(self) -> int:
        """How much more memory it holds than at its start."""
        return self._process.held_bytes - self._process.first_bytes

    def call(self, function: Callable[..., Any], limits: Limits, *words: Any, quiet: bool = True) -> Any:
        """What the function returns in the worker; `quiet` keeps what it prints there."""
        sent = self._sent.setdefault(function.__name__, SentFunction(function))
        sent.refresh()
        caller_state.look()
        terms = Terms(limits=limits, judge=JUDGE, give_back=lambda _: None, quiet=quiet)
        return GuardedCall(self._process, terms).run(sent, words, {})

    def leave_room(self, limits: Limits, more_bytes: int) -> None:
        """Let it take more memory than the limit of its next call, to report that the limit was reached."""
        if limits.memory_bytes is not None:
            self._process.watch(limits.memory_bytes + more_bytes)
            self._process.watched = (limits.memory_bytes, self._process.held_bytes)

    def retire(self) -> None:
        """End it in its own time: nothing is running."""
        self._process.retire()

    def end(self) -> None:
        """End it at once."""
        self._process.end()
