"""Serves a guarded caller: sets the stage as the caller has it, calls, streams, and answers."""

from __future__ import annotations

import collections
import importlib
import inspect
import json
import pickle
import sys
from collections.abc import Iterator
from typing import Any

from ..operating_system import memory_limit
from . import caller_environment, exceptions, forks, pickling, plain_values, random_state, standard_streams
from . import message_frames as wire
from .link import CallersIterator, Link

_PLAIN = frozenset({int, float, bool, str, bytes, type(None)})
_MOST_WORDS = 10_000
_NATIVE = ("tensorflow", "keras", "jax", "torch")


class Nesting:
    """What this worker knows of guards inside guards; guards that are called in a worker look here first.

    To read a function is to import its module. A guarded call among the statements of that module would start
    a worker, which would import the module and start a worker, without end.
    """

    depth = 0  # how many callers stand above this process
    is_reading = False


class Server:
    """One caller's functions, and the call that is running."""

    def __init__(self, link: Link, idle_s: float = 0.0) -> None:
        """Nothing has been called yet; after `idle_s` without a call it serves no more, unless that is 0."""
        self._link, self._idle_s = link, idle_s
        self._functions: collections.OrderedDict[int, Any] = collections.OrderedDict()
        self._stream: Any = None
        self._busy = False
        self._random = random_state.RandomWatch(follows=True)
        self._environment = caller_environment.CallerEnvironment()
        self.memory = memory_limit.MemoryLimit()
        self._calls = self._number = 0  # of the function that is called, or was last
        self._foreign: tuple[str, ...] = ()

    def interrupted(self, *_: Any) -> None:
        """The caller was interrupted: so is the function, if one runs."""
        if self._busy:
            raise KeyboardInterrupt

    def find_in_main(self, name: str) -> Any:
        """What the caller's main program defines by this name, if it came with a function.

        Pools of processes send functions by their names, and what was forked from here looks them up here.
        """
        for number in (self._number, *reversed(list(self._functions))):
            function = getattr(self._functions.get(number), "__func__", self._functions.get(number))
            known = getattr(function, "__globals__", {})
            for found in (function, known.get(name)):
                own = getattr(found, "__module__", ""), getattr(found, "__qualname__", "")
                if own == ("__main__", name):
                    return found
        raise AttributeError("module '__main__' has no attribute %r" % name)

    def serve(self) -> None:
        """Answer until the caller is gone, says stop, or has not called for long."""
        actions = {
            wire.CALL: self._call,
            wire.NEXT: self._next,
            wire.STATE: self._set_state,
            wire.FUNCTION: self._keep_function,
            wire.CLOSE: self._close,
            wire.PRELOAD: self._preload,
        }
        while True:
            # Between two items of a stream the caller may think as long as it likes.
            frame = self._link.receive(0.0 if self._stream is not None else self._idle_s)
            if frame is None or frame.kind == wire.STOP:
                return
            try:
                actions[frame.kind](frame)
            except KeyboardInterrupt as error:  # it came a moment too late for the function
                self._busy = False
                forks.leave_if_fork(error)
                self._answer(*self._raised(error))
            if forks.ForkState.is_fork:
                forks.leave(None)
            del frame

    def _set_state(self, frame: wire.Frame) -> None:
        self.memory.lift()
        state = self._link.unpack(frame)
        if "environment" in state:
            Nesting.depth = state["depth"]
            Nesting.is_reading = True  # modules may be loaded again
            try:
                self._environment.set(state)
            finally:
                Nesting.is_reading = False
            # What the caller has not loaded itself must not be loaded there by what we send.
            self._foreign = tuple(name for name in _NATIVE if name not in state["native"])
        if "random" in state:
            self._random.apply(state["random"])

    def _keep_function(self, frame: wire.Frame) -> None:
        number, replaced = frame.facts
        self._functions.pop(replaced, None)
        self.memory.lift()
        Nesting.is_reading = True
        try:
            function = self._link.unpack(frame)
        except BaseException as error:
            forks.leave_if_fork(error)
            function = _Unreadable(error)
        finally:
            Nesting.is_reading = False
        self._functions[number] = function
        if len(self._functions) > wire.MOST_FUNCTIONS:
            self._functions.popitem(last=False)

    def _preload(self, frame: wire.Frame) -> None:
        for name in json.loads(frame.rest.decode("utf-8")):
            try:
                importlib.import_module(name)
            except Exception:
                pass  # the function will say so itself, if it needs it
        standard_streams.flush()
        self._link.send(wire.PRELOADED, self.memory.sizes_now_and_then(0))

    def _call(self, frame: wire.Frame) -> None:
        """Call a function and answer; nothing of the call is left when the answer is on its way."""
        number, memory_bytes, has_iterators, self._link.is_plain = frame.facts
        self._calls += 1
        answer = self._run(frame, number, memory_bytes, has_iterators)
        self._answer(*answer)
        if self._stream is None:
            self._environment.restore()  # while the caller is busy with the answer

    def _run(self, frame: wire.Frame, number: int, memory_bytes: int, has_iterators: bool) -> Any:
        self._busy = True
        try:
            function = self._functions[number]
            call, self._number = self._calls, number
            found = (lambda name: CallersIterator(self._link, call, name)) if has_iterators else None
            Nesting.is_reading = True
            arguments, named = self._link.unpack(frame, found)
            Nesting.is_reading = False
            self.memory.limit(memory_bytes)
            self._link.begin(call)
            if frame.late:
                self._link.await_copy(frame)
            value = function(*arguments, **named)
            del arguments, named
            if type(value) in _PLAIN and not self._link.is_plain:
                return wire.VALUE, pickle.dumps(value, 5), ()
            if inspect.iscoroutine(value):
                import asyncio

                value = asyncio.run(_awaited(value))
            if isinstance(value, Iterator):
                self._stream = value
                return wire.STREAM, b"", ()
            return *self._pack(wire.VALUE, value), pickling.is_array(value) and not self._link.is_plain
        except BaseException as error:
            self._busy = Nesting.is_reading = False
            forks.leave_if_fork(error)
            self.memory.lift()  # to say what went wrong takes memory too
            return self._raised(error)
        finally:
            self._busy = False

    def _next(self, _: wire.Frame) -> None:
        self._busy = True
        try:
            value = next(self._stream)
            answer = self._pack(wire.YIELDED, value)
            del value
        except StopIteration as end:
            self._stream = None
            answer = self._pack(wire.ENDED, end.value)
        except BaseException as error:
            self._stream = None
            forks.leave_if_fork(error)
            answer = self._raised(error)
        finally:
            self._busy = False
        self._answer(*answer)

    def _close(self, _: wire.Frame) -> None:
        """End a generator before its end: its `finally` runs."""
        stream, self._stream = self._stream, None
        self._busy = True
        answer = self._pack(wire.ENDED, None)
        try:
            close = getattr(stream, "close", None)
            if close is not None:
                close()
        except BaseException as error:
            forks.leave_if_fork(error)
            answer = self._raised(error)
        finally:
            self._busy = False
        del stream
        self._answer(*answer)

    def _pack(self, kind: int, value: Any) -> Any:
        try:
            if self._link.is_plain:
                return kind, *plain_values.dumps(_without_tensors(value))
            body, apart = pickling.dumps(value)
            if any(name in sys.modules and name.encode() in body for name in self._foreign):
                body, apart = pickling.dumps(_without_tensors(value))
            return kind, body, apart
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, MemoryError)):
                raise
            plain = isinstance(error, plain_values.NotPlain)
            words = str(error) if plain else exceptions.what_cannot_go(value, error)
            return wire.CANNOT, words[:_MOST_WORDS].encode("utf-8", "backslashreplace"), ()

    def _raised(self, error: BaseException) -> Any:
        describe = exceptions.describe_plainly if self._link.is_plain else exceptions.describe
        return wire.RAISED, describe(error), ()

    def _answer(self, kind: int, body: bytes, apart: Any, late: bool = False) -> None:
        if forks.ForkState.is_fork:
            forks.leave(None)
        goes_on = kind in (wire.STREAM, wire.YIELDED)
        if not goes_on:
            self._link.begin(0)
            self._stream = None
        standard_streams.flush()
        # A caller that unpickles nothing does not follow us: it sends its own state with each call.
        changed = not self._link.is_plain and self._random.changed()
        state = pickling.dumps(self._random.state())[0] if changed else b""
        facts = (*self.memory.sizes_now_and_then(self._calls), self._calls)
        self._link.send(kind, facts, body, apart, late, state)


class _Unreadable:
    """A function that could not be read: calling it says why."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise self._error


async def _awaited(value: Any) -> Any:
    return await value


def _without_tensors(value: Any) -> Any:
    """The value with arrays in the place of tensors, whose library the caller has not loaded."""
    if type(value).__name__ in ("EagerTensor", "ResourceVariable", "Variable") and hasattr(value, "numpy"):
        return value.numpy()
    if type(value) is dict:
        return {key: _without_tensors(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_without_tensors(item) for item in value)
    return value
