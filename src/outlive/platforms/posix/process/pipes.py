"""The parent's side of a worker: pipes with deadlines whose end is noticed at once, and the shared block."""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from outlive.platforms.posix.process import system_calls
from outlive.platforms.posix.process.descriptors import above_standard, close_all, file_with
from outlive.platforms.posix.process.shared_block import SharedBlock
from outlive.process import answers
from outlive.process.answers import MalformedAnswer
from outlive.process.child import wire
from outlive.process.limits import DeadlineMissed

# How long one sleep lasts. Between two of them we look whether the worker is gone: a process that it started
# may hold its end of the pipe open. Python also runs the handlers of signals that other threads received.
_SLICE_MS = 200
# Wake-up bytes that came too late: a healthy worker sends one for each call.
_MOST_SKIPPED = 1 << 16


class Channel:
    """Two pipes: commands to the worker, replies from it."""

    def __init__(self, commands: int, replies: int) -> None:
        """Take over the parent's ends; `is_gone` is to be set to what knows whether the worker has ended."""
        self.commands, self.replies = commands, replies
        self.is_gone: Callable[[], bool] = lambda: False
        system_calls.set_nonblocking(commands, replies)
        self._can_write = system_calls.poll(commands, events=system_calls.WRITABLE)
        self._can_read = system_calls.poll(replies)

    def close(self) -> None:
        """Close both ends."""
        commands, replies, self.commands, self.replies = self.commands, self.replies, -1, -1
        for descriptor in (commands, replies):
            if descriptor >= 0:
                os.close(descriptor)

    def send(self, header: dict[str, Any], payload: Any, deadline: float | None) -> None:
        """Write one frame; `wire.ConnectionClosed` if the worker is gone."""
        for part in wire.pack(header, payload):
            self._write(part, deadline)

    def wake(self) -> None:
        """One byte, which means: look at the shared block."""
        self._write(b"\0", None)

    def receive(
        self, verb: str, deadline: float | None, most_bytes: int = 0, into: memoryview | None = None
    ) -> tuple[Any, memoryview]:
        """The answer to a question and its payload; `MalformedAnswer` if it is none, or too large.

        A payload that goes `into` a place of its own fills it: no more and no less, unless there is an error.
        """
        header_size, payload_size = self._head(deadline)
        if header_size > wire.MAX_HEADER_BYTES:
            raise MalformedAnswer(f"{verb}: a header of {header_size} bytes")
        answer = answers.decode(verb, self.read(header_size, deadline))
        if into is not None and not isinstance(answer, answers.Failure):
            if payload_size != len(into):
                raise MalformedAnswer(f"{verb}: {payload_size} bytes instead of {len(into)}")
            self._fill(into, deadline)
            return answer, into
        if payload_size > most_bytes:
            raise MalformedAnswer(f"{verb}: {payload_size} bytes, and {most_bytes} are the most")
        return answer, memoryview(self.read(payload_size, deadline))

    def _head(self, deadline: float | None) -> tuple[int, int]:
        """The sizes of the next frame; late wake-up bytes are skipped."""
        for _ in range(_MOST_SKIPPED):
            first = self.read(1, deadline)
            if first[0] == wire.MARKER:
                return wire.unpack_head(bytes(first + self.read(wire.HEAD_BYTES - 1, deadline)))
        raise MalformedAnswer("bytes without end that are no frame")

    def wait_readable(self, timeout_ms: float) -> bool:
        """True once something can be read; `ConnectionClosed` if the worker is gone and nothing will come."""
        if self.replies < 0:
            raise wire.ConnectionClosed("closed on this side")
        if system_calls.wait(self._can_read, timeout_ms):
            return True
        # What it wrote before it ended is there by the time its end is known.
        if self.is_gone() and not system_calls.wait(self._can_read, 0):
            raise wire.ConnectionClosed("the worker is gone")
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
                raise wire.ConnectionClosed(str(error)) from None
            if not count:
                raise wire.ConnectionClosed("end of stream")
            place = place[count:]
            if place:
                _slice_ms(deadline)

    def _write(self, data: Any, deadline: float | None) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[quiet_write(self.commands, view) :]
            except BlockingIOError:
                if not system_calls.wait(self._can_write, _slice_ms(deadline)) and self.is_gone():
                    raise wire.ConnectionClosed("the worker is gone") from None
            except OSError as error:
                raise wire.ConnectionClosed(str(error)) from None


def quiet_write(descriptor: int, data: memoryview) -> int:
    """Write; a reader that is gone is an error and never a signal, also in programs that die of SIGPIPE."""
    if signal.getsignal(signal.SIGPIPE) is not signal.SIG_DFL:
        return system_calls.write(descriptor, data)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])
    try:
        return system_calls.write(descriptor, data)
    except BrokenPipeError:
        if hasattr(signal, "sigtimedwait"):
            signal.sigtimedwait([signal.SIGPIPE], 0)
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


class Connection:
    """What ties a parent to one worker: two pipes and the shared block, three descriptors in all.

    The worker's ends must be gone from this process before it forks again or waits for the worker: as long as
    somebody holds the other end of a pipe, its end of file is not seen.
    """

    def __init__(self, content: bytes | memoryview | None) -> None:
        """Open all, or none; OSError where the system has no more to give."""
        opened: list[int] = []
        with above_standard(), contextlib.ExitStack() as undo:
            undo.callback(close_all, opened)
            self.block = SharedBlock()
            undo.callback(self.block.close)
            for _ in range(2):
                opened += os.pipe()
            for_worker, commands, replies, from_worker = opened
            if content is not None:
                opened.append(file_with("outlive-model", content))
            self._theirs = [for_worker, from_worker, *opened[4:]]
            self.channel = Channel(commands, replies)
            undo.pop_all()

    def given(self) -> list[int]:
        """What the worker gets, in the order it expects."""
        for_worker, from_worker, *content = self._theirs
        return [for_worker, from_worker, self.block.descriptor, *content]

    def handed_over(self) -> None:
        """The worker has its ends, or never will: close them here."""
        close_all(self._theirs)

    @property
    def closed(self) -> bool:
        """True once the parent has given up its ends."""
        return self.channel.commands < 0

    def close(self) -> None:
        """Give back the pipes; the shared block lives as long as views of it."""
        self.channel.close()
        self.block.close()
        close_all(self._theirs)
