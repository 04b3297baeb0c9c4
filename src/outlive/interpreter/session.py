"""One model in one worker: opened, asked, run; opened again in a new worker where that is wanted.

Keeps what a new worker needs to take over from the old one: how the model was opened and which inputs were
resized (`shared_tensors` keeps the inputs themselves). What variables held is lost with a worker.
"""

from __future__ import annotations

import contextlib
import enum
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import RunError
from outlive.interpreter import details
from outlive.interpreter.interpreter_options import InterpreterOptions
from outlive.meter import read_machine
from outlive.process import answers
from outlive.process.factories import with_factory
from outlive.process.flight import Flight
from outlive.process.limits import is_whole, make_settings
from outlive.process.operating_system import at_fork
from outlive.process.worker import Died, RuntimeRaised, Worker
from outlive.process.worker_factory import CannotStartWorker, RuntimeAbsent, StartTooSlow, WorkerFactory
from outlive.units import format_bytes

# Questions to a worker that are part of a stage of another name.
_STAGES = {"open": "load", "resize": "set", "share": "allocate", "call": "invoke", "details": "get"}
# `seconds` is how long a model may take; starting a process of ours gets at least this much.
_LEAST_START_S = 5.0
# Values of tensors up to this come with the answer, larger ones in parts.
_INLINE_BYTES, _PART_BYTES = 1 << 20, 32 << 20
# Details of a model take this and 32 bytes for each of its file, and never more than half a gigabyte.
_LEAST_DETAILS, _MOST_DETAILS = 1 << 20, 512 << 20
_CLOSED = "this interpreter is closed and its worker has ended; open a new one"

_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


class SessionState(enum.Enum):
    """What the next call has to do first."""

    READY = "nothing: the worker can be asked"
    MOVED = "ask where the tensors are: a signature or a run has moved them"
    NEEDS_RESTART = "start a new worker: the old one was lost to an interrupt or a fork"
    DEAD = "start a new worker if the user wants that; raise the death again if not"
    CLOSED = "raise: the user has closed it"


class Session:
    """The worker of a model, replaced when it is lost; `state` says what the next call has to do first.

    Calls that use the worker hold `lock`. The state may change without it: `kill` is for any thread.
    """

    def __init__(self, options: InterpreterOptions, restart_after_death: bool = False) -> None:
        """Start a worker and load the model in it."""
        self.options, self._restarts = options, restart_after_death
        self.resized: dict[int, tuple[list[int], bool]] = {}
        self._last_death: RunError | None = None
        self._folder = _folder()
        self.lock = threading.RLock()
        self._changing = threading.Lock()
        self.state = SessionState.READY
        self.owner = os.getpid()
        self.worker: Worker
        self.flight: Flight | None = None
        self.open()
        _sessions.add(self)

    def enter(self, state: SessionState) -> None:
        """Change the state; one that is closed stays closed."""
        with self._changing:
            if self.state is not SessionState.CLOSED:
                self.state = state

    def needed(self) -> SessionState:
        """READY, MOVED or NEEDS_RESTART; raises if it is closed, or dead and not to be restarted."""
        if self.owner != os.getpid():
            self.enter(SessionState.NEEDS_RESTART)
        if self.state is SessionState.CLOSED:
            raise RuntimeError(_CLOSED)
        if self.state is not SessionState.DEAD:
            return self.state
        if not self._restarts:
            raise self.death_again()
        return SessionState.NEEDS_RESTART

    def ready(self) -> None:
        """Have a worker that can be asked."""
        if self.needed() is not SessionState.READY:
            with self.failures_noted():
                self.reopen()
                self.enter(SessionState.READY)

    @contextlib.contextmanager
    def exclusive(self, ready: Callable[[], None] | None = None) -> Iterator[None]:
        """One call at a time, on a worker that is `ready`; a failure decides what the next call needs."""
        with self.lock:
            (ready or self.ready)()
            with self.failures_noted():
                yield

    @contextlib.contextmanager
    def failures_noted(self) -> Iterator[None]:
        """Let an error decide what the next call has to do first."""
        try:
            yield
        except BaseException as error:
            self.note_failure(error)
            raise

    def note_failure(self, error: BaseException) -> None:
        """Ctrl-C and its like cost the worker, not the session: the next call gets a new one.

        So does any other exception that a signal handler of the user raises in the middle of a call.
        """
        if not isinstance(error, Exception) or (self.flight is None and self.worker.closed):
            self.enter(SessionState.NEEDS_RESTART)
        elif self.flight is not None and self.state is not SessionState.NEEDS_RESTART:
            self.enter(SessionState.DEAD)

    def open(self) -> None:
        """Start a new worker and load the model."""
        options = self.options
        self.owner = os.getpid()
        self.worker = self._start()
        header: dict[str, Any] = {
            "do": "open",
            "arguments": self._arguments(),
            "memory": True,
            "mark": "load",
        }
        if options.delegates:
            header["delegates"] = [list(pair) for pair in options.delegates]
        if options.custom_ops is not None:
            header["custom_op_registerers"] = list(options.custom_ops)
        if options.compiled is not None:
            header["compiled"] = options.compiled
        try:
            if options.sandbox == "on" and not is_whole(self.worker.applied_limits):
                raise options.judge.unsandboxed(self.worker.applied_limits)
            if options.watch is not None:
                options.watch(self.worker.pid)
            self.ask(header)
        except BaseException:
            # Only an open session has an owner that closes it: what fails here gives its worker back here.
            self.worker.kill()
            raise

    def _start(self) -> Worker:
        """A worker that is ready to load the model."""
        options = self.options
        seconds = options.limits.seconds
        deadline = None if seconds is None else time.monotonic() + max(seconds, _LEAST_START_S)
        runtime, limits, content = options.kind.runtime, options.limits, options.content
        path, extras = self._arguments().get("model_path"), (options.custom_ops, options.compiled)
        room = {"threads": options.threads, "mapped_bytes": _file_bytes(path)}
        order = make_settings(options.sandbox, options.kind, path, options.delegates, *extras)

        def start(maker: WorkerFactory) -> Worker:
            return Worker(maker, runtime, limits, content, deadline, order, room)

        try:
            return with_factory(options.kind, start, deadline)
        except RuntimeAbsent as error:
            raise options.judge.missing("absence", str(error)) from None
        except Died as error:
            raise self.death(error.flight) from None
        except StartTooSlow:
            late = Flight(died=True, stage="start", ended_by="deadline", limits=limits.to_json())
            raise self.death(late) from None
        except CannotStartWorker as error:
            raise options.judge.unavailable(str(error)) from error

    def _arguments(self) -> dict[str, Any]:
        """As they were given; a relative path still means the folder that was current then."""
        arguments = dict(self.options.arguments)
        if "model_path" in arguments and _folder() != self._folder:
            arguments["model_path"] = os.path.join(self._folder, arguments["model_path"])
        return arguments

    def change_options(self, change: Callable[[InterpreterOptions], InterpreterOptions]) -> None:
        """End the worker; the next one opens the model with other options."""
        self.worker.kill()
        self.options = change(self.options)

    def reopen(self) -> None:
        """Put a new worker in the place of the old one, with the shapes that inputs were given."""
        self.flight = None
        self.open()
        try:
            for index, (shape, strict) in self.resized.items():
                self._resize(index, shape, strict)
        except BaseException:
            self.worker.kill()
            raise

    def ask(self, header: dict[str, Any], payload: Any = b"", **how: Any) -> Any:
        """A question to the worker (see `Worker.call`); deaths and complaints are errors with findings."""
        try:
            return self.worker.call(header, payload, **how)
        except Died as error:
            raise self.death(error.flight) from None
        except RuntimeRaised as error:
            raise self._complaint(error, header["do"]) from None

    def ask_about(self, question: str, header: dict[str, Any]) -> Any:
        """A question about the model, whose answer has the form that `details` knows for it."""
        return self.ask(
            header, most_bytes=self._most_details(), read=lambda _, data: details.read(question, data)
        )

    def ask_values(self, header: dict[str, Any], count: int, payload: Sequence[Any] = ()) -> list[Any]:
        """A question whose answer is the values of so many tensors.

        Large ones come part by part, into the arrays that are handed out, so that they are here only once.
        """
        found: answers.Arrays | list[Any]
        found = self.ask(
            {**header, "large": _INLINE_BYTES},
            b"".join(payload),
            most_bytes=_INLINE_BYTES,
            read=lambda answer, data: (
                answers.counted(answer, count) if answer.held else answers.split(answer, count, data)
            ),
        )
        if isinstance(found, list):
            return found
        return [self._fetch(place, head, count) for place, head in enumerate(found.outputs)]

    def _fetch(self, place: int, head: answers.ArrayHead, count: int) -> Any:
        memory = _room_for(head.size)
        for start in range(0, head.size, _PART_BYTES):
            stop = min(start + _PART_BYTES, head.size)
            last = place == count - 1 and stop == head.size
            order = {"do": "part", "place": place, "start": start, "stop": stop, "last": last}
            self.ask(order, into=memory.data[start:stop])
        return answers.as_array(head, memory)

    def _most_details(self) -> int:
        """What an answer about the model may have: names and scales come from its file."""
        size = len(self.options.content or b"") or _file_bytes(self._arguments().get("model_path"))
        return min(_LEAST_DETAILS + 32 * size, _MOST_DETAILS)

    def invoke(self, first: bool) -> bool:
        """Run the model; the first run after an allocation is measured. True if its outputs have moved."""
        try:
            if first:
                self.worker.call({"do": "invoke", "memory": True})
            else:
                self.worker.invoke()
        except Died as error:
            raise self.death(error.flight) from None
        except RuntimeRaised as error:
            if error.kind == "Moved":
                return True
            raise self._complaint(error, "invoke") from None
        return False

    def resize(self, index: int, shape: list[int], strict: bool) -> None:
        """Resize an input, and remember it."""
        self._resize(index, shape, strict)
        self.resized[index] = (shape, strict)

    def _resize(self, index: int, shape: list[int], strict: bool) -> None:
        self.ask({"do": "resize", "index": index, "shape": shape, "strict": strict})

    def kill(self) -> None:
        """End the worker at once, without freeing anything; a call of another thread ends with an error."""
        self.enter(SessionState.CLOSED)
        with contextlib.suppress(OSError):
            self.worker.kill_during_call()
            if self.lock.acquire(blocking=False):
                try:
                    self.worker.kill()
                finally:
                    self.lock.release()

    def close(self) -> None:
        """Free the model and end the worker; raises `ModelDied` if freeing kills it."""
        with self.lock:
            is_ours = self.state is not SessionState.CLOSED and self.owner == os.getpid()
            self.enter(SessionState.CLOSED)
            flight = self.worker.stop() if is_ours and self.flight is None else None
            if flight is None:
                return
            death = self.death(flight)
            # A worker that was ended between two calls, for the memory it held, has nothing left to free.
            if flight.ended_by != "memory":
                raise death

    def death(self, flight: Flight) -> RunError:
        """The error for a death, judged with the model at hand; it is remembered."""
        options = self.options
        self.flight = seen = self._as_opened(flight)
        self._last_death = error = options.judge.died(seen, options.source)
        self.flight = error.flight
        return error

    def death_again(self) -> RunError:
        """The last death, for a caller who goes on as if nothing had happened."""
        last = self._last_death
        if last is None or last.flight is not self.flight:
            assert self.flight is not None
            return self.death(self.flight)
        return type(last)(last.finding, str(last), last.findings[1:], last.flight)

    def _as_opened(self, flight: Flight) -> Flight:
        """The record with what a plan of the model has to know: its kernels, threads and input shapes."""
        given = self.options
        kernels = given.arguments.get("experimental_op_resolver_type", "AUTO")
        kernels = "other" if given.delegates or given.compiled else kernels
        known = {"kernels": kernels, "threads": given.arguments.get("num_threads")}
        runtime = {**flight.runtime, "opened": known}
        return given.judge.attached(replace(flight, resized=self._shapes(), runtime=runtime))

    def story(self) -> Flight:
        """The record of a worker that is still well."""
        worker = self.worker
        flight = Flight(
            died=False,
            stage="idle",
            peak_bytes=worker.history.peak({}),
            baseline_bytes=worker.history.baseline_bytes,
            timeline=worker.history.points(),
            stderr_tail=worker.stderr_tail(),
            limits={**self.options.limits.to_json(), **worker.applied_limits},
            runtime=worker.facts,
            pid=worker.pid,
            resized=self._shapes(),
        )
        return self.options.judge.attached(flight)

    def _shapes(self) -> dict[int, tuple[int, ...]]:
        return {index: tuple(shape) for index, (shape, _) in self.resized.items()}

    def _complaint(self, error: RuntimeRaised, stage: str) -> Exception:
        flight = replace(
            self.story(),
            stage=_STAGES.get(stage, stage),
            error_type=error.kind,
            error_text=error.text,
            last_memory={"data_bytes": error.data_bytes},
            machine=read_machine().known(),
        )
        return self.options.judge.raised(error, self._as_opened(flight), self.options.source)


def _room_for(size: int) -> NDArray[np.uint8]:
    """Room for a large tensor. MemoryError where it would not be real: the system would kill us to get it."""
    available = read_machine().available_bytes
    # Half of it: the program that asked, and everything else on the machine, want to live too.
    if available is not None and size > available // 2:
        raise MemoryError(
            f"a tensor of {format_bytes(size)}, and {format_bytes(available)} of memory is left"
        )
    return np.empty(size, np.uint8)


def _file_bytes(path: Any) -> int:
    try:
        return os.stat(path).st_size if path and os.path.isfile(path) else 0
    except OSError:  # the runtime says what is wrong with it
        return 0


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _start_over() -> None:
    """In a forked child of the program: its parent's workers are not its own.

    A thread that was inside a call is not here to give the locks back, either.
    """
    for session in list(_sessions):
        session.lock, session._changing = threading.RLock(), threading.Lock()
        session.enter(SessionState.NEEDS_RESTART)


at_fork(after_in_child=_start_over)
