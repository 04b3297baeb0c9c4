"""A function that cannot take its caller with it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from outlive.errors import RunError
from outlive.guarding.caller_state import IS_WORKER, check_nesting
from outlive.guarding.functions import SentFunction, mentions_tensorflow
from outlive.guarding.guard_process import GuardProcess
from outlive.guarding.guarded_call import GuardedCall, NotBegun, Terms, caller_state
from outlive.guarding.pool import pool
from outlive.guarding.worker_errors import CannotSend
from outlive.interpreter.judge import Judge
from outlive.process.child.guard import exceptions
from outlive.process.limits import Limits, choose_mode
from outlive.process.worker_factory import CannotStartWorker
from outlive.units import parse_bytes

# A worker that has grown by this much since it was new is replaced, unless the user says otherwise.
_MOST_GROWTH_BYTES = 2_000_000_000


class Guarded:
    """A function whose calls run in a worker: call it as the function itself.

    It may be called from several threads; each call has a worker of its own. What it changes stays in the
    worker, except what it returns and where it leaves the random generators.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        judge: Judge,
        memory: str | int | None = None,
        seconds: float | None = None,
        fresh: bool = False,
        recycle: int | str | None = None,
        quiet: bool = False,
        doing: dict[str, str] | None = None,
        sandbox: str = "off",
        plain: Any = None,
    ) -> None:
        """Nothing is started, unless the function needs TensorFlow, which takes long to load.

        TypeError if it is no function, ValueError for limits that cannot be. `judge` says what its deaths
        mean. `plain` is for what runs a model: the form of its values, or of those that it yields
        (`answer_forms`), which are read as plain ones; nothing is unpickled.
        """
        if not callable(function):
            raise TypeError(f"guard expects a function, not a {type(function).__name__}")
        if isinstance(recycle, int) and (isinstance(recycle, bool) or recycle < 1):
            raise ValueError("recycle must be a number of calls (at least 1) or a size such as '500MB'")
        functools.update_wrapper(self, function)
        self.limits = Limits(memory=memory, seconds=seconds)
        self.fresh, self.recycle, self.sandbox = fresh, recycle, choose_mode(sandbox)
        self._function = function
        self._most_calls = recycle if isinstance(recycle, int) else None
        self._most_growth = parse_bytes(recycle) if isinstance(recycle, str) else _MOST_GROWTH_BYTES
        self._sent = SentFunction(function)
        self._terms = Terms(
            limits=self.limits,
            judge=judge,
            give_back=self._give_back,
            quiet=quiet,
            doing=doing or {},
            form=plain,
        )
        self._is_async = inspect.iscoroutinefunction(function)
        self._tensorflow = mentions_tensorflow(function)
        if self._tensorflow:
            pool.warm(tensorflow=True, plain=plain is not None)

    def __call__(self, /, *arguments: Any, **named: Any) -> Any:
        """Call the function in a worker.

        Its value, its own exception with the worker's traceback as the cause, or `ModelDied` or
        `LimitReached` with a finding and the flight.
        """
        if self._is_async:
            return self._call_async(arguments, named)
        return self._call(arguments, named)

    def _call(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if IS_WORKER:
            check_nesting()
        sent = self._sent
        caller_state.look()
        try:
            sent.refresh(caller_state.reload_version)
        except Exception as error:
            what = exceptions.what_cannot_go(self._function, error)
            raise CannotSend(f"the function cannot be sent to a worker: {what}") from error
        while True:
            try:
                process = pool.take(
                    fresh=self.fresh,
                    tensorflow=self._tensorflow,
                    known=sent.number,
                    sandbox=self.sandbox,
                    plain=self._terms.form is not None,
                )
            except CannotStartWorker as error:
                raise self._terms.judge.unavailable(str(error)) from error
            try:
                return GuardedCall(process, self._terms).run(sent, arguments, named)
            except NotBegun:
                continue
            except CannotStartWorker as error:
                raise self._terms.judge.unavailable(str(error)) from error
            except RunError:
                if process.closed:  # a caller that has seen a death tries again
                    pool.warm(self._tensorflow, self._terms.form is not None)
                raise

    async def _call_async(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        import asyncio

        return await asyncio.to_thread(self._call, arguments, named)

    def _give_back(self, process: GuardProcess) -> None:
        """A worker whose call is over: kept for the next, or replaced."""
        grown = process.held_bytes - process.first_bytes
        spent = self._most_calls is not None and process.calls >= self._most_calls
        if self.fresh or spent or grown > self._most_growth:
            process.retire()
            pool.warm(self._tensorflow, self._terms.form is not None)
        else:
            pool.give(process)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A guarded method: the instance goes with the call."""
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> Any:
        """Sent to a worker or a file as the function and its terms."""
        options = {
            "judge": self._terms.judge,
            "memory": self.limits.memory_bytes,
            "seconds": self.limits.seconds,
            "fresh": self.fresh,
            "recycle": self.recycle,
            "quiet": self._terms.quiet,
            "doing": self._terms.doing,
            "sandbox": self.sandbox,
            "plain": self._terms.form,
        }
        return functools.partial(Guarded, **options), (self._function,)

    def __repr__(self) -> str:
        """The function and its limits."""
        return f"<guarded {getattr(self._function, '__qualname__', self._function)}: {self.limits}>"
