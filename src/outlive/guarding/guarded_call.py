"""One guarded call: what is sent, what comes back, and what is raised."""

from __future__ import annotations

import contextlib
import dataclasses
import pickle
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from outlive.guarding.caller_state import CallerState
from outlive.guarding.functions import SentFunction
from outlive.guarding.guard_process import GuardProcess
from outlive.guarding.worker_errors import CannotReturn, CannotSend, load_value, rebuild, rebuild_plain
from outlive.interpreter.answer_forms import has_form
from outlive.interpreter.judge import Judge
from outlive.process.child.guard import exceptions, pickling, plain_values
from outlive.process.child.guard import message_frames as wire
from outlive.process.limits import DeadlineMissed, Limits, is_whole

# How long a function that was interrupted may take for its `finally`, before it is ended without.
_GRACE_S = 3.0
# A limit is kept from outside too; it is set again when what the worker holds has moved by so much.
_MOVED_BYTES = 16 << 20
# What may answer a call, the wish for the next item, and the wish to end a stream.
_TO_CALL = (wire.VALUE, wire.RAISED, wire.STREAM, wire.CANNOT)
_TO_NEXT = (wire.YIELDED, wire.ENDED, wire.RAISED, wire.CANNOT)
_TO_CLOSE = (wire.ENDED, wire.RAISED)
_MOST_WORDS = 40_000
# Where a model bears its identifier (tflite/schema/schema.fbs).
_IDENTIFIER_AT, _IDENTIFIER = slice(4, 8), b"TFL3"
caller_state = CallerState()


class NotBegun(Exception):
    """The worker had ended before the call reached it: another one can have it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a call may take, and what becomes of its worker: `give_back` gets it when all went well.

    What a `quiet` call prints is kept for the record of a death, and not shown. `doing` names the script or
    the cell that runs, where it is no function. A call with a `form` runs a model, or what has its
    outputs: what the worker says is read as plain values of this form, and nothing of it is unpickled.
    """

    limits: Limits
    judge: Judge
    give_back: Callable[[GuardProcess], None]
    quiet: bool = False
    doing: dict[str, str] = dataclasses.field(default_factory=dict)
    form: Any = None


class GuardedCall:
    """A call on a worker of its own, from its sending to its last answer."""

    def __init__(self, process: GuardProcess, terms: Terms) -> None:
        """Nothing is sent yet."""
        self._process, self._terms = process, terms
        self._plain = terms.form is not None
        if self._plain:
            process.be_plain()
        self._iterators: list[Any] = []
        self._model: bytes | None = None
        self._raised_here: Exception | None = None
        self._deadline: float | None = None
        self._done = self._is_sent = self._has_begun = False

    def run(self, sent: SentFunction, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call the function and give its value, or raise."""
        self._model = _only_model((*arguments, *named.values()))
        try:
            body, apart, is_named = self._pack_arguments(arguments, named)
        except BaseException:
            self._release()
            raise
        try:
            self._process.greet()
            if self._process.sandbox == "on" and not is_whole(self._process.applied):
                raise self._terms.judge.unsandboxed(self._process.applied)
            self._process.output.muted = self._terms.quiet
            self._process.doing = self._terms.doing
            late = bool(apart) and not is_named and pickling.are_arrays((*arguments, *named.values()))
            self._begin_answer()
            self._send(sent, body, apart, is_named, late)
            self._is_sent = True
            del arguments, named, apart
            if self._deadline is not None:
                self._begin_answer()
            return self._finish(self._await(_TO_CALL))
        except BaseException as error:
            ended = self._ended(error)
            if ended is error:
                raise
            raise ended from None

    def _pack_arguments(self, arguments: Any, named: Any) -> tuple[bytes, list[memoryview], bool]:
        """The arguments as bytes, their large buffers, and whether iterators stay here."""
        if not _has_iterator(arguments) and not (named and _has_iterator(named.values())):
            try:
                body, apart = pickling.dumps((arguments, named))
                return body, apart, False
            except Exception:
                pass  # something in them cannot go as it is; an iterator may stay here and be asked
        try:
            return *pickling.dumps((arguments, named), self._name_iterator), True
        except Exception as error:
            what = exceptions.what_cannot_go(_as_one(arguments, named), error)
            raise CannotSend(f"the arguments cannot be sent to a worker: {what}") from error

    def _name_iterator(self, value: Any) -> int | None:
        """A number for an iterator, which stays here; None for everything else."""
        is_bare = isinstance(value, pickling.BARE_ITERATORS)
        if not is_bare and not (hasattr(type(value), "__next__") and not exceptions.can_go(value)):
            return None
        self._iterators.append(value)
        return len(self._iterators) - 1

    def _send(
        self, sent: SentFunction, body: bytes, apart: list[memoryview], is_named: bool, late: bool
    ) -> None:
        process = self._process
        parts = []
        state = caller_state.pack(process.state_version, process.random_version)
        if state is not None:
            parts.append(process.pack(wire.STATE, (), state, []))
            process.state_version, process.random_version = (
                caller_state.version,
                caller_state.random_version,
            )
        if sent.number not in process.functions:
            numbers = (sent.number, sent.replaced)
            parts.append(process.pack(wire.FUNCTION, numbers, sent.body, sent.apart))
            process.note_function(*numbers)
        limits = self._terms.limits
        memory_bytes, asked = limits.effective_memory_bytes(), limits.memory_bytes
        self._keep_watch(memory_bytes)
        process.allowed_bytes = memory_bytes
        order = (sent.number, -1 if asked is None else asked, is_named, self._plain)
        parts.append(process.pack(wire.CALL, order, body, apart, late))
        process.begin_call()
        process.send(b"".join(parts), self._deadline)
        process.copy_late()

    def _keep_watch(self, memory_bytes: int | None) -> None:
        """Tell the watchdog how much it may hold, if that has changed."""
        process = self._process
        if memory_bytes is None:
            if process.watched is not None:
                process.watch(None)
                process.watched = None
            return
        held = process.sizes[0]
        if process.watched is not None:
            moved = abs(memory_bytes - process.watched[0])
            near = max(_MOVED_BYTES, memory_bytes // 10)
            wanted = self._terms.limits.memory_bytes is not None and moved
            if not wanted and moved <= near and abs(held - process.watched[1]) <= near:
                return
        process.watch(memory_bytes)
        process.watched = (memory_bytes, held)

    def _begin_answer(self) -> None:
        seconds = self._terms.limits.seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def _await(self, expected: tuple[int, ...]) -> wire.Frame:
        """The answer; meanwhile the worker may ask for items of the iterators it was given."""
        while True:
            frame = self._process.receive(self._deadline)
            self._has_begun = True
            if frame.kind in expected and frame.facts[3] == self._process.calls:
                return frame
            self._check_asks(frame)
            began = time.monotonic()
            self._serve_item(*frame.facts)
            if self._deadline is not None:
                self._deadline += time.monotonic() - began  # that time was ours

    def _check_asks(self, frame: wire.Frame) -> None:
        """`Malformed` unless it asks for an item of something that it was given."""
        if frame.kind != wire.ASK:
            raise wire.Malformed("an answer to another question, or to another call")
        if frame.facts[0] >= len(self._iterators):
            raise wire.Malformed("it asks for an iterator that it was not given")

    def _serve_item(self, number: int) -> None:
        process = self._process
        try:
            item = next(self._iterators[number])
            body, apart = pickling.dumps(item)
            answer = process.pack(wire.ITEM, (), body, apart)
        except StopIteration:
            answer = process.pack(wire.NO_MORE, (), b"", [])
        except Exception as error:
            self._raised_here = error
            answer = process.pack(wire.ITEM_RAISED, (), _dump_error(error), [])
        process.send(answer, self._deadline)

    def _finish(self, frame: wire.Frame) -> Any:
        """The value of the last answer, or what it raises."""
        if frame.kind == wire.STREAM:
            return GuardedStream(self)
        body, leases = self._process.open_frame(frame)
        if self._plain:
            return self._finish_plain(frame, body, leases)
        if frame.late:
            value = load_value(body, leases)  # a plain array: nothing in it is looked at
            self._process.await_copy(frame, self._deadline)
            self._note(frame)
            self._release()
            return value
        seen = self._process.seen(self._terms.limits) if frame.kind == wire.RAISED else None
        self._note(frame)
        self._release()
        if seen is not None:
            raise rebuild(body, seen, self._terms.judge, self._model)
        if frame.kind == wire.CANNOT:
            raise _cannot(body)
        return load_value(body, leases)

    def _finish_plain(self, frame: wire.Frame, body: Any, leases: list[Any]) -> Any:
        """The same: read before the worker is given back, because one that makes no sense is ended."""
        error: BaseException | None = None
        value = None
        if frame.kind == wire.RAISED:
            seen = self._process.seen(self._terms.limits)
            error = self._ours(rebuild_plain(body, seen, self._terms.judge))
        elif frame.kind == wire.CANNOT:
            error = _cannot(body)
        else:
            form = self._terms.form if frame.kind == wire.VALUE else object
            value = check_form(plain_values.loads(body, leases), form)
        self._note(frame)
        self._release()
        if error is not None:
            raise error
        return value

    def _ours(self, error: BaseException) -> BaseException:
        """What an iterator raised here, if that is what the worker says it was ended by."""
        ours = self._raised_here
        if ours is None or (type(ours).__name__, str(ours)) != (type(error).__name__, str(error)):
            return error
        ours.__cause__ = error.__cause__
        return ours

    def _note(self, frame: wire.Frame) -> None:
        process = self._process
        if self._plain:
            if frame.late or frame.rest:
                raise wire.Malformed("an answer that is not plain")
            process.measure()
            process.random_version = 0  # it does not say where it has left them: they are sent again
            return
        process.sizes = frame.facts
        if frame.rest:
            caller_state.take_random(frame.rest)
            process.random_version = caller_state.random_version

    def next_item(self) -> tuple[bool, Any]:
        """True and the next item of a stream, or False and what the generator returned."""
        try:
            self._begin_answer()
            self._process.send(self._process.pack(wire.NEXT, (), b"", []), self._deadline)
            frame = self._await(_TO_NEXT)
            if frame.kind != wire.YIELDED:
                return False, self._finish(frame)
            body, leases = self._process.open_frame(frame)
            self._note(frame)
            if not self._plain:
                return True, load_value(body, leases)
            return True, check_form(plain_values.loads(body, leases), self._terms.form)
        except BaseException as error:
            ended = self._ended(error)
            if ended is error:
                raise
            raise ended from None

    def close_stream(self) -> None:
        """End the generator of a stream: its `finally` runs in the worker."""
        if self._done or self._process.closed:
            return
        try:
            self._begin_answer()
            self._process.send(self._process.pack(wire.CLOSE, (), b"", []), self._deadline)
            self._finish(self._await(_TO_CLOSE))
        except BaseException as error:
            ended = self._ended(error)
            if ended is error:
                raise
            raise ended from None

    def abandon(self) -> None:
        """End the worker, if the call is not over."""
        if not self._done:
            self._done = True
            self._process.end()

    def _release(self) -> None:
        self._done = True
        self._process.stage = "idle"
        self._terms.give_back(self._process)

    def _ended(self, error: BaseException) -> BaseException:
        """What to raise when a call did not end with its answer."""
        if self._done:
            return error
        if isinstance(error, wire.Malformed):
            return self._death("malformed", str(error))
        if isinstance(error, wire.Closed):
            has_waited = self._process.was_idle or self._process.calls > 1
            # A call that has asked for an item has begun: its iterators are not what they were.
            if has_waited and not self._has_begun and not self._process.took_all:
                self.abandon()
                return NotBegun()
            return self._death("")
        if isinstance(error, DeadlineMissed):
            return self._death("deadline")
        if self._is_sent:
            self._interrupt()
        else:
            self.abandon()
        return error

    def _death(self, ended_by: str, said: str = "") -> BaseException:
        self._done = True
        flight = self._process.record(ended_by, self._terms.limits)
        if said:
            flight = dataclasses.replace(flight, error_type=wire.Malformed.__name__, error_text=said)
        return self._terms.judge.died(flight, self._model)

    def _interrupt(self) -> None:
        """The caller was interrupted, or something else went wrong here: so is the function, then ended."""
        process = self._process
        try:
            process.interrupt()
            end = time.monotonic() + _GRACE_S
            frame = process.receive(end)
            while frame.kind == wire.ASK:
                process.send(process.pack(wire.ITEM_RAISED, (), _dump_error(KeyboardInterrupt()), []), end)
                frame = process.receive(end)
            if frame.kind not in (*_TO_CALL, *_TO_NEXT) or frame.facts[3] != process.calls:
                raise wire.Malformed("an answer to another question, or to another call")
            if frame.kind not in (wire.STREAM, wire.YIELDED):
                process.open_frame(frame)
                self._release()
        except (wire.Closed, DeadlineMissed):
            pass
        finally:
            if not self._done:
                self._done = True
                with contextlib.suppress(OSError):
                    process.output.finish()
                process.end()


def check_form(value: Any, form: Any) -> Any:
    """The value; `Malformed` if it has another form."""
    if not has_form(value, form):
        raise wire.Malformed("an answer of another form than this question has")
    return value


def _only_model(values: Iterable[Any]) -> bytes | None:
    """The model that a call is given as bytes, if it is the only one: no file names it when it dies."""
    found = [value for value in values if isinstance(value, bytes) and value[_IDENTIFIER_AT] == _IDENTIFIER]
    return found[0] if len(found) == 1 else None


def _has_iterator(values: Iterable[Any]) -> bool:
    bare = pickling.BARE_ITERATORS
    for value in values:  # noqa: SIM110 - half the time of any() over a generator
        if isinstance(value, bare):
            return True
    return False


def _dump_error(error: BaseException) -> bytes:
    try:
        return pickling.dumps(error)[0]
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"), 5)


def _cannot(body: Any) -> CannotReturn:
    words = bytes(body[:_MOST_WORDS]).decode("utf-8", "replace")
    return CannotReturn(f"the result cannot come back from the worker: {words}")


def _as_one(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return {**dict(enumerate(arguments)), **named}


class GuardedStream:
    """An iterator over what a guarded generator yields; `close()`, or `with`, ends it early.

    The worker works only while an item is asked for, and belongs to the stream until it ends.
    """

    def __init__(self, call: GuardedCall) -> None:
        """Take the call over."""
        self._call: GuardedCall | None = call

    def __iter__(self) -> GuardedStream:
        """Itself."""
        return self

    def __next__(self) -> Any:
        """The next item; what the generator raises is raised here."""
        call = self._call
        if call is None:
            raise StopIteration
        self._call = None  # whatever goes wrong ends the stream
        there, value = call.next_item()
        if not there:
            raise StopIteration(value)
        self._call = call
        return value

    def close(self) -> None:
        """End the generator, as `close()` of an ordinary one does."""
        call, self._call = self._call, None
        if call is not None:
            call.close_stream()

    def __enter__(self) -> GuardedStream:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def __del__(self) -> None:
        """A stream without a reader is closed."""
        call = getattr(self, "_call", None)
        if call is not None:
            with contextlib.suppress(BaseException):
                self.close()
            with contextlib.suppress(BaseException):
                call.abandon()
