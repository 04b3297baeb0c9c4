"""A worker as its owner sees it: calls that end in an answer, the runtime's complaint, or a recorded death.

Worker.call(frame)   the ordinary way: any question, any tensor
Worker.invoke()      the hot way: a number in the shared block, no pipe while both sides are awake
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from outlive.meter import watch_activity
from outlive.process import answers
from outlive.process.answers import MalformedAnswer
from outlive.process.child import wire
from outlive.process.flight import Flight
from outlive.process.flight_recorder import FlightRecorder, LastWords, MemoryHistory
from outlive.process.limits import DeadlineMissed, Limits
from outlive.process.operating_system import AdaptiveWait, Connection, at_fork, starting, this_core, wait_mode
from outlive.process.worker_factory import (
    CannotStartWorker,
    RuntimeAbsent,
    StartedWorker,
    WorkerFactory,
    in_words,
)

_FIRST_SLEEP_MS = 50
# Python runs the handlers of signals that another thread received only between two sleeps of this one.
_LATER_SLEEP_MS = 200
_ENDING_TIMEOUT_S = 5.0
_START_TIMEOUT_S = 120.0
# How long the runtime may take to free a model before its worker is ended without.
_FREE_TIMEOUT_S = 0.5
# What only the model can say how long it takes, and how long all other questions may take without `seconds`.
_MODELS_OWN = ("open", "allocate", "invoke", "call", "run", "reset")
_OTHER_TIMEOUT_S = 120.0
_LITTLE_BYTES = 8 << 20
_CLOSED = "this interpreter is closed: its worker has ended, and a new interpreter is needed"

_alive: weakref.WeakSet[Worker] = weakref.WeakSet()


class Died(Exception):
    """The worker ended before it answered; the flight says all that was seen."""

    def __init__(self, flight: Flight) -> None:
        """Keep the record."""
        super().__init__(flight.stage)
        self.flight = flight


class RuntimeRaised(Exception):
    """The runtime complained in words; the worker lives."""

    def __init__(self, kind: str, text: str, data_bytes: int) -> None:
        """Keep what it said, and what the worker held then."""
        super().__init__(text)
        self.kind, self.text, self.data_bytes = kind, text, data_bytes


class Worker:
    """One worker process, from its start to its end."""

    def __init__(
        self,
        factory: WorkerFactory,
        runtime: str,
        limits: Limits,
        content: bytes | memoryview | None,
        deadline: float | None = None,
        sandbox: dict[str, Any] | None = None,
        room: dict[str, Any] | None = None,
    ) -> None:
        """Start it; `CannotStartWorker` if the system refuses, `Died` if it does not live to say so."""
        self._factory, self._limits, self._owner = factory, limits, os.getpid()
        self._number = 0
        self._killed_during_call = False
        self.flight: Flight | None = None
        self.applied_limits: dict[str, Any] = {}
        self.history = MemoryHistory()
        self._recorder = FlightRecorder(limits, (room or {}).get("threads"))
        way = wait_mode()
        request = {
            "cwd": _folder(),
            "runtime": runtime,
            "spin": way,
            "limits": {**limits.to_request(), **(room or {})},
            "sandbox": sandbox or {"off": "not requested"},
        }
        self._started, self._connection = _start_worker(factory, request, content, deadline)
        self._give_back = weakref.finalize(
            self, _end, factory, self._started.number, self._connection, self._owner
        )
        self._give_back.atexit = False  # the nurseries end all workers then
        _alive.add(self)
        self.block, self._channel = self._connection.block, self._connection.channel
        self._waiting = AdaptiveWait(self.block, way)
        self.facts = self._started.facts
        self._wait_ready(deadline)

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self._started.pid

    def _wait_ready(self, deadline: float | None) -> None:
        end = time.monotonic() + _START_TIMEOUT_S
        try:
            ready, _ = self._channel.receive("ready", end if deadline is None else min(end, deadline))
        except BaseException as error:
            raise self._ended(error) from None
        if isinstance(ready, answers.RuntimeMissingAnswer):
            self.kill()
            raise RuntimeAbsent(ready.text)
        self.facts = {**self.facts, **ready.facts}
        self.applied_limits = ready.limits
        self.history.begin(_memory(ready))

    def call(
        self,
        header: dict[str, Any],
        payload: Any = b"",
        *,
        most_bytes: int = 0,
        into: memoryview | None = None,
        read: Callable[[Any, memoryview], Any] | None = None,
    ) -> Any:
        """Ask and wait for the answer; what `read` makes of it and of its payload.

        The payload may have `most_bytes`, or it fills the place it goes `into`.
        """
        verb = header["do"]
        deadline = self._deadline()
        if deadline is None and verb not in _MODELS_OWN:
            deadline = time.monotonic() + _OTHER_TIMEOUT_S
        try:
            self._channel.send(header, payload, deadline)
            answer, data = self._channel.receive(verb, deadline, most_bytes, into)
            is_failure = isinstance(answer, answers.Failure)
            found = answer if is_failure or read is None else read(answer, data)
        except BaseException as error:
            raise self._ended(error) from None
        if answer.memory is not None:
            self.history.mark(header.get("mark", verb), _memory(answer))
        if is_failure:
            raise RuntimeRaised(answer.error, answer.text, answer.data_bytes)
        return found

    def invoke(self) -> None:
        """Run the model with what lies in the shared block."""
        words = self.block.words
        self._number = number = self._number % 0x7FFFFFFF + 1
        words[wire.STATUS] = wire.OK
        words[wire.PARENT_STATE] = wire.SPINNING
        words[wire.COMMAND] = number
        try:
            if words[wire.WORKER_STATE] != wire.SPINNING:
                words[wire.PARENT_STATE] = wire.BLOCKED
                words[wire.PARENT_CORE] = this_core()
                self._channel.wake()
                self._sleep(number)
                if self._waiting.calls_to_sleep:
                    self._waiting.count_slept_call()
            elif not self._waiting.wait_awake(number):
                words[wire.PARENT_STATE] = wire.BLOCKED
                self._sleep(number)
                self._waiting.learn(words[wire.TOOK_US] * 1000)
            if words[wire.STATUS] == wire.OK:
                return
            answer, _ = self._channel.receive("invoke", self._deadline())
            if not isinstance(answer, answers.Failure):
                raise MalformedAnswer("invoke: a complaint was announced, and none came")
        except BaseException as error:
            raise self._ended(error) from None
        raise RuntimeRaised(answer.error, answer.text, answer.data_bytes)

    def _sleep(self, number: int) -> None:
        """Wait asleep for the answer, until the deadline."""
        words, deadline = self.block.words, self._deadline()
        timeout: float = _FIRST_SLEEP_MS
        while words[wire.DONE] != number:
            left = None if deadline is None else (deadline - time.monotonic()) * 1000
            if left is not None and left <= 0:
                raise DeadlineMissed
            if self._channel.wait_readable(min(timeout, left) if left is not None else timeout):
                if words[wire.STATUS] != wire.OK:
                    return
                # A wake-up byte, or the end. Read even if the answer is there: it would wake the next call.
                self._channel.read(1, deadline)
            timeout = _LATER_SLEEP_MS

    def _deadline(self) -> float | None:
        seconds = self._limits.seconds
        return None if seconds is None else time.monotonic() + seconds

    def _ended(self, error: BaseException) -> BaseException:
        """What to raise when a call did not come back: a recorded death, or the user's own interrupt."""
        if self._connection.closed:
            return RuntimeError(_CLOSED) if self.flight is None else Died(self.flight)
        if self._killed_during_call:
            self.kill()
            return RuntimeError(_CLOSED)
        if isinstance(error, DeadlineMissed):
            return Died(self._record("deadline"))
        if isinstance(error, wire.ConnectionClosed):
            return Died(self._record(""))
        if isinstance(error, MalformedAnswer):
            seen = self._record("malformed")
            self.flight = replace(seen, error_type="Malformed", error_text=str(error))
            return Died(self.flight)
        # KeyboardInterrupt and its like: the call is lost, so the worker goes; the exception is the user's.
        self._record("interrupt")
        return error

    def _record(self, ended_by: str) -> Flight:
        """End the worker, if it has not ended, and write down all that is known of the end."""
        activity: dict[str, Any] = {}
        try:
            if ended_by == "deadline":
                activity = watch_activity(self._started.pid)
                self._factory.abort(self._started.number)  # its owner wants to know what it was doing
            else:
                # Also one that closed its pipes and lives: it can no longer be understood.
                self._factory.kill(self._started.number)
            ending = self._factory.ending(self._started.number, _ENDING_TIMEOUT_S)
            self.flight = self._recorder.flight(
                ended_by=ended_by,
                ending=ending,
                started=self._started,
                words=LastWords(
                    stage=wire.STAGES[min(self.block.words[wire.STAGE], len(wire.STAGES) - 1)],
                    stderr_tail=ending.stderr_tail,
                    fault_trace=ending.fault_trace,
                ),
                history=self.history,
                applied=self.applied_limits,
                facts=self.facts,
                activity=activity,
            )
        finally:
            self.close()
        return self.flight

    def grow(self, size: int) -> None:
        """Make room in the shared block; OSError if there is none."""
        if size > _LITTLE_BYTES:  # the slack of a limit has room for less
            self._factory.share(self._started.number, size)
        self.block.grow(size)

    def stderr_tail(self) -> str:
        """The last of what the worker printed."""
        return self._factory.words(self._started.number)["stderr_tail"]

    def stop(self) -> Flight | None:
        """Free the interpreter and end the worker; the flight if it died while doing so."""
        if self._is_done():
            return None
        end = time.monotonic() + _FREE_TIMEOUT_S
        try:
            self._channel.send({"do": "close"}, b"", end)
            self._channel.receive("close", end)
        except DeadlineMissed:
            pass  # the system takes back what it would free
        except BaseException as error:
            ended = self._ended(error)
            if isinstance(ended, Died):
                return ended.flight
            raise ended from None
        self.kill()
        return None

    def kill_during_call(self) -> None:
        """End the worker while a call may be waiting for it in another thread, which then cleans up."""
        self._killed_during_call = True
        if not self._is_done():
            self._factory.kill(self._started.number)

    def kill(self) -> None:
        """End the worker without a word."""
        if self._is_done():
            return
        try:
            self._factory.end(self._started.number)
        finally:
            self.close()

    @property
    def closed(self) -> bool:
        """True once its pipes and files are given back."""
        return self._connection.closed

    def _is_done(self) -> bool:
        return self._connection.closed or self._owner != os.getpid()

    def close(self) -> None:
        """Give back pipes and files; the shared block lives as long as views of it."""
        # The next invoke then wants to wake the worker, and finds the pipe closed.
        self._connection.block.words[wire.WORKER_STATE] = wire.BLOCKED
        self._connection.close()
        _alive.discard(self)

    def abandon(self) -> None:
        """In a forked child of the program: the worker is the parent's, the memory here is our own."""
        self._connection.block.make_private()
        self.close()


def _folder() -> str:
    """Where the program stands; the root if that place is gone."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def _memory(answer: Any) -> dict[str, int]:
    """The memory that a worker says it has; empty where its system does not tell."""
    report = answer.memory
    return {"private_bytes": report.private_bytes, "rss_bytes": report.rss_bytes} if report else {}


def _start_worker(
    factory: WorkerFactory,
    request: dict[str, Any],
    content: bytes | memoryview | None,
    deadline: float | None,
) -> tuple[StartedWorker, Connection]:
    """A new worker and our ends of what ties it to us."""
    with contextlib.ExitStack() as locked:
        locked.enter_context(starting)
        connection = _open_connection(content)

        def handed_over() -> None:
            connection.handed_over()
            locked.close()

        try:
            started = factory.start_worker(request, connection.given(), handed_over, deadline)
        except BaseException:
            connection.close()
            raise
    connection.channel.is_gone = functools.partial(factory.is_gone, started.number)
    return started, connection


def _end(factory: WorkerFactory, number: int, connection: Connection, owner: int) -> None:
    """Give back what a worker has that was not closed."""
    if not connection.closed and owner == os.getpid():
        try:
            factory.end(number)
        finally:
            connection.close()


def _open_connection(content: bytes | memoryview | None) -> Connection:
    try:
        return Connection(content)
    except OSError as error:
        raise CannotStartWorker(f"nothing can be opened here: {in_words(error)}") from error


def _abandon_workers() -> None:
    for worker in list(_alive):
        with contextlib.suppress(Exception):  # a child that never uses a worker must not fall over here
            worker.abandon()


at_fork(after_in_child=_abandon_workers)
