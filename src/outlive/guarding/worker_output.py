"""What a worker prints, shown where the caller looks: its `sys.stdout` and `sys.stderr` of that moment.

The thread that waits for the answer reads the pipes, so that a notebook shows the lines under the cell that
called, and all that was printed is shown before the call returns or raises.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import logging
import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any

from outlive.process import operating_system
from outlive.process.child.guard.message_frames import Malformed
from outlive.process.child.guard.plain_values import MOST_TEXT_BYTES
from outlive.process.worker_factory import in_words

# More than a pipe holds: one read empties it.
_PIPE_BYTES = 1 << 18
_KEPT_BYTES = 1 << 16
# After a worker's end: more than all that can lie in its pipe, unless another process fills it.
_LAST_READS = 8
_MOST_FAILURES = 4
# Name, level, path, line, text, function, traceback, stack, and when it was made.
_LOG_FIELDS = (str, int, str, int, str, str, str, str, float)
_LATEST, _MOST_LOG_BYTES = 1e11, 1 << 26
# How long an interrupt waits for output to be shown; a reader that blocks for longer is interrupted.
_MOST_DEFERRED_S = 0.5


class DeferredInterrupt:
    """Holds the first Ctrl-C back until the block is over; a second one, or one that comes late, is not held.

    Only the main thread gets interrupts, so that in others this does nothing.
    """

    __slots__ = ("_began", "_held", "_usual")

    def __init__(self) -> None:
        """Nothing is held back yet."""
        self._usual: Any = None
        self._held: tuple[int, FrameType | None] | None = None
        self._began = 0.0

    def __enter__(self) -> None:
        """Begin to hold back."""
        if threading.current_thread() is not threading.main_thread():
            return
        usual = signal.getsignal(signal.SIGINT)
        if callable(usual):
            self._began, self._usual = time.monotonic(), usual
            signal.signal(signal.SIGINT, self._hold)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it, and pass on what was held back."""
        if self._usual is None:
            return
        if signal.getsignal(signal.SIGINT) == self._hold:
            signal.signal(signal.SIGINT, self._usual)
        held, self._held = self._held, None
        if held is not None and error is None:
            self._usual(*held)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        if self._held is not None or time.monotonic() - self._began > _MOST_DEFERRED_S:
            self._held = None
            self._usual(number, frame)
        else:
            self._held = number, frame


class WorkerOutput:
    """The two pipes of a worker."""

    def __init__(self, out: int, errors: int, *, raw: bool = False) -> None:
        """Take over the reading ends; `raw` passes bytes to descriptors 1 and 2 instead of text streams."""
        self._names = {out: "stdout", errors: "stderr"}
        self._decoders = {
            end: codecs.getincrementaldecoder("utf-8")(errors="replace") for end in (out, errors)
        }
        self._raw = raw
        self._tail = bytearray()
        self.failure = ""  # why what the worker prints cannot be read any more
        self.muted = False
        operating_system.set_nonblocking(out, errors)

    def ends(self) -> list[int]:
        """The descriptors that are still open."""
        return list(self._names)

    def is_open(self, end: int) -> bool:
        """False once the pipe has ended."""
        return end in self._names

    def read(self, end: int) -> bool:
        """Show what has come; False once the pipe has ended. A Ctrl-C meanwhile comes after it."""
        with DeferredInterrupt():
            return self._read(end)

    def _read(self, end: int) -> bool:
        try:
            data = self._take(end)
        except BlockingIOError:
            return True
        name = self._names[end]
        if name == "stderr":
            self._keep(data)
        if not self.muted:
            self._show(end, name, data)
        if not data:
            self._close(end)
        return bool(data)

    def _take(self, end: int) -> bytes:
        """What has come; a system that is short of memory gives it the next time."""
        for left in reversed(range(_MOST_FAILURES)):
            try:
                return operating_system.read(end, _PIPE_BYTES)
            except BlockingIOError:
                raise
            except OSError as error:
                self.failure = "" if left else in_words(error)
        return b""

    def finish(self) -> None:
        """Show all that is left, after the worker's end."""
        for end in self.ends():
            poll = operating_system.poll(end)
            # A grandchild may hold the pipe and go on; what the worker printed is there at once.
            for _ in range(_LAST_READS):
                if not poll.poll(0) or not self.read(end):
                    break

    def tail(self, size_bytes: int = 8192) -> str:
        """The last of what was printed to standard error."""
        return bytes(self._tail[-size_bytes:]).decode("utf-8", "replace")

    def forget(self) -> None:
        """A new call begins: what others printed before is not its own."""
        self._tail.clear()

    def close(self) -> None:
        """Give back the pipes."""
        for end in self.ends():
            self._close(end)

    def _close(self, end: int) -> None:
        if self._names.pop(end, None) is not None:
            os.close(end)

    def _keep(self, data: bytes) -> None:
        self._tail += data
        if len(self._tail) > 2 * _KEPT_BYTES:
            del self._tail[:-_KEPT_BYTES]

    def _show(self, end: int, name: str, data: bytes) -> None:
        if self._raw:
            _write_all(1 if name == "stdout" else 2, data)
            return
        text = self._decoders[end].decode(data, final=not data)
        stream: Any = getattr(sys, name)
        if not text or stream is None:
            return
        with contextlib.suppress(ValueError):  # the caller has closed it
            try:
                stream.write(text)
            except UnicodeEncodeError:
                encoding = getattr(stream, "encoding", None) or "ascii"
                stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            getattr(stream, "flush", _nothing)()


def _nothing() -> None:
    """For a stream that has nothing to flush."""


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[operating_system.write(descriptor, view) :]


def deliver_log(body: Any, is_plain: bool) -> None:
    """Hand a worker's log record to this process's own handlers; `Malformed` if it is none."""
    fields = _read_log(body, MOST_TEXT_BYTES if is_plain else _MOST_LOG_BYTES)
    name, level, path, line, text, function, trace, stack, created = fields
    logger = _logger(name, is_plain)
    if not logger.isEnabledFor(level):
        return
    record = logger.makeRecord(name, level, path, line, text, (), None, function, None, stack or None)
    record.exc_text = trace or None
    began = record.created - record.relativeCreated / 1000  # when this process began, by logging's clock
    record.created = created
    record.msecs = int(created % 1 * 1000) + 0.0
    record.relativeCreated = (created - began) * 1000
    logger.handle(record)


def _read_log(body: Any, most_bytes: int) -> list[Any]:
    if len(body) > most_bytes:
        raise Malformed("a log record that is too long")
    try:
        fields = json.loads(bytes(body).decode("ascii"))
    except (ValueError, RecursionError):
        raise Malformed("a log record that cannot be read") from None
    if not isinstance(fields, list) or [type(field) for field in fields] != list(_LOG_FIELDS):
        raise Malformed("a log record of other fields")
    if not abs(fields[-1]) < _LATEST or not abs(fields[1]) < _LATEST:
        raise Malformed("a log record of no time, or no level")
    return fields


def _logger(name: str, is_plain: bool) -> logging.Logger:
    """The logger of this name. None is made for a worker that runs models: there is no end to names."""
    known = logging.root.manager.loggerDict.get(name)
    if name == "root" or (is_plain and not isinstance(known, logging.Logger)):
        return logging.root
    return logging.getLogger(name)
