"""The parent's end of a worker's pipes: frames with a deadline, and an end that is noticed at once."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any

from outlive.process import answers, unpatched
from outlive.process.answers import Malformed
from outlive.process.child import wire
from outlive.process.limits import DeadlineMissed

# How long one sleep lasts. Between two of them we look whether the worker is gone: a process that it started
# may hold its end of the pipe open. Python also runs the handlers of signals that other threads received.
_SLICE_MS = 200
# Wake-up bytes that came too late: a healthy worker sends one for each call.
_MOST_SKIPPED = 1 << 16
_SIGPIPE = getattr(signal, "SIGPIPE", None)


class Channel:
    """Two pipes: commands to the worker, replies from it."""

    def __init__(self, commands: int, replies: int) -> None:
        """Take over the parent's ends; `is_gone` is to be set to what knows whether the worker has ended."""
        self.commands, self.replies = commands, replies
        self.is_gone: Callable[[], bool] = lambda: False
        os.set_blocking(commands, False)
        os.set_blocking(replies, False)
        self._can_write = unpatched.poll()
        self._can_write.register(commands, select.POLLOUT)
        self._can_read = unpatched.poll()
        self._can_read.register(replies, select.POLLIN)

    def close(self) -> None:
        """Close both ends."""
        commands, replies, self.commands, self.replies = self.commands, self.replies, -1, -1
        for descriptor in (commands, replies):
            if descriptor >= 0:
                os.close(descriptor)

    def send(self, header: dict[str, Any], payload: Any, deadline: float | None) -> None:
        """Write one frame; `wire.Closed` if the worker is gone."""
        for part in wire.pack(header, payload):
            self._write(part, deadline)

    def wake(self) -> None:
        """One byte, which means: look at the shared block."""
        self._write(b"\0", None)

    def receive(
        self, verb: str, deadline: float | None, most_bytes: int = 0, into: memoryview | None = None
    ) -> tuple[Any, memoryview]:
        """The answer to a question and its payload; `Malformed` if it is none, or larger than `most_bytes`.

        A payload that goes `into` a place of its own fills it: no more and no less, unless there is an error.
        """
        header_size, payload_size = self._head(deadline)
        if header_size > wire.MAX_HEADER_BYTES:
            raise Malformed(f"{verb}: a header of {header_size} bytes")
        answer = answers.decode(verb, self.read(header_size, deadline))
        if into is not None and not isinstance(answer, answers.Failure):
            if payload_size != len(into):
                raise Malformed(f"{verb}: {payload_size} bytes instead of {len(into)}")
            self._fill(into, deadline)
            return answer, into
        if payload_size > most_bytes:
            raise Malformed(f"{verb}: {payload_size} bytes, and {most_bytes} are the most")
        return answer, memoryview(self.read(payload_size, deadline))

    def _head(self, deadline: float | None) -> tuple[int, int]:
        """The sizes of the next frame; late wake-up bytes are skipped."""
        for _ in range(_MOST_SKIPPED):
            first = self.read(1, deadline)
            if first[0] == wire.MARKER:
                return wire.unpack_head(bytes(first + self.read(wire.HEAD_BYTES - 1, deadline)))
        raise Malformed("bytes without end that are no frame")

    def wait_readable(self, timeout_ms: float) -> bool:
        """True once something can be read; `wire.Closed` once the worker is gone and nothing will come."""
        if self.replies < 0:
            raise wire.Closed("closed on this side")
        if unpatched.wait(self._can_read, timeout_ms):
            return True
        # What it wrote before it ended is there by the time its end is known.
        if self.is_gone() and not unpatched.wait(self._can_read, 0):
            raise wire.Closed("the worker is gone")
        return False

    def read(self, count: int, deadline: float | None) -> bytearray:
        """Exactly `count` bytes before the deadline."""
        data = bytearray(count)
        self._fill(memoryview(data), deadline)
        return data

    def _fill(self, place: memoryview, deadline: float | None) -> None:
        while place:
            try:
                count = os.readv(self.replies, [place])
            except BlockingIOError:
                self.wait_readable(_slice_ms(deadline))
                continue
            except OSError as error:
                raise wire.Closed(str(error)) from None
            if not count:
                raise wire.Closed("end of stream")
            place = place[count:]
            if place:
                _slice_ms(deadline)

    def _write(self, data: Any, deadline: float | None) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[quiet_write(self.commands, view) :]
            except BlockingIOError:
                if not unpatched.wait(self._can_write, _slice_ms(deadline)) and self.is_gone():
                    raise wire.Closed("the worker is gone") from None
            except OSError as error:
                raise wire.Closed(str(error)) from None


def quiet_write(descriptor: int, data: memoryview) -> int:
    """Write; a reader that is gone is an error and never a signal, also in programs that die of SIGPIPE."""
    if _SIGPIPE is None or signal.getsignal(_SIGPIPE) is not signal.SIG_DFL:
        return unpatched.write(descriptor, data)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [_SIGPIPE])
    try:
        return unpatched.write(descriptor, data)
    except BrokenPipeError:
        if hasattr(signal, "sigtimedwait"):
            signal.sigtimedwait([_SIGPIPE], 0)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _slice_ms(deadline: float | None) -> float:
    """How long the next sleep may last; `DeadlineMissed` if there is no time left."""
    if deadline is None:
        return _SLICE_MS
    left = (deadline - time.monotonic()) * 1000
    if left <= 0:
        raise DeadlineMissed
    return min(_SLICE_MS, left + 1)
