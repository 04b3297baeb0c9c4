"""One worker for many calls, each with limits of its own: for who keeps something in it, as pytest does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outlive.guarding.calling import GuardedCall, NotBegun, Terms, caller_state
from outlive.guarding.functions import SentFunction
from outlive.guarding.pool import alive
from outlive.guarding.process import GuardProcess
from outlive.verbs.judging import JUDGE
from outlive.worker.hatchery import CannotHatch
from outlive.worker.limits import Limits

__all__ = ["GuardedSession", "NotBegun", "check_limits"]


def check_limits(memory: str | int | None, seconds: float | None) -> None:
    """ValueError or TypeError for limits that cannot be."""
    Limits(memory=memory, seconds=seconds)


class GuardedSession:
    """A worker, and the functions that were sent to it."""

    def __init__(self) -> None:
        """Start it; `WorkerUnavailable` where none can be had."""
        try:
            self._process = GuardProcess()
        except CannotHatch as error:
            raise JUDGE.unavailable(str(error)) from error
        alive.add(self._process)
        self._sent: dict[str, SentFunction] = {}

    def call(
        self,
        function: Callable[..., Any],
        *words: Any,
        memory: str | int | None = None,
        seconds: float | None = None,
        reporting_bytes: int = 0,
        quiet: bool = True,
    ) -> Any:
        """Call a function in it: its value, its own exception, a `RunError` for a death.

        `NotBegun` if the worker had ended before. At `memory` it gets MemoryError; `reporting_bytes` are what
        it takes beyond that to report so.
        """
        limits = Limits(memory=memory, seconds=seconds)
        if limits.memory_bytes is not None and reporting_bytes:
            self._process.watch(limits.memory_bytes + reporting_bytes)
            self._process.watched = (limits.memory_bytes, self._process.held_bytes)
        sent = self._sent.setdefault(function.__name__, SentFunction(function))
        sent.refresh()
        caller_state.look()
        terms = Terms(limits=limits, judge=JUDGE, give_back=lambda _: None, quiet=quiet)
        return GuardedCall(self._process, terms).run(sent, words, {})

    @property
    def grown_bytes(self) -> int:
        """How much it holds beyond what it held when it was new."""
        return self._process.held_bytes - self._process.first_bytes

    @property
    def is_alive(self) -> bool:
        """Whether it can be called."""
        return self._process.is_alive()

    @property
    def is_closed(self) -> bool:
        """Whether it has ended, as far as we have been told."""
        return self._process.closed

    def retire(self) -> None:
        """Let it end by itself."""
        self._process.retire()

    def end(self) -> None:
        """End it."""
        self._process.end()
