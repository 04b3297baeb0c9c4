"""The parent's end of a worker's pipes: frames with a deadline, and an end that is noticed at once."""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Any, cast

from outlive.worker.child import wire

_MOST_AT_ONCE = 1 << 20
_SIGPIPE = getattr(signal, "SIGPIPE", None)


class DeadlineMissed(Exception):
    """The worker did not answer in time."""


class Channel:
    """Two pipes: commands to the worker, replies from it."""

    def __init__(self, commands: int, replies: int) -> None:
        """Take over the parent's ends."""
        self.commands, self.replies = commands, replies
        os.set_blocking(commands, False)
        os.set_blocking(replies, False)
        self._can_write = select.poll()
        self._can_write.register(commands, select.POLLOUT)
        self._can_read = select.poll()
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

    def receive(self, deadline: float | None) -> tuple[dict[str, Any], bytes]:
        """The next frame; late wake-up bytes are skipped."""
        first = self.read(1, deadline)
        while first[0] != wire.MARKER:
            first = self.read(1, deadline)
        header_size, payload_size = wire.unpack_head(first + self.read(wire.HEAD_BYTES - 1, deadline))
        header = wire.unpack_header(self.read(header_size, deadline))
        return header, self.read(payload_size, deadline)

    def wait_readable(self, timeout_ms: float | None) -> bool:
        """True once something can be read, or the worker is gone."""
        if self.replies < 0:
            raise wire.Closed("closed on this side")
        return bool(self._can_read.poll(timeout_ms))

    def read(self, count: int, deadline: float | None) -> bytes:
        """Exactly `count` bytes before the deadline; room is made as they come, whatever was promised."""
        data = bytearray()
        while len(data) < count:
            try:
                part = os.read(self.replies, min(count - len(data), _MOST_AT_ONCE))
            except BlockingIOError:
                _wait(self._can_read, deadline)
                continue
            except OSError as error:
                raise wire.Closed(str(error)) from None
            if not part:
                raise wire.Closed("end of stream")
            data += part
        # A copy of a large one would take as much memory again.
        return bytes(data) if count <= _MOST_AT_ONCE else cast(bytes, data)

    def _write(self, data: Any, deadline: float | None) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[_quiet_write(self.commands, view) :]
            except BlockingIOError:
                _wait(self._can_write, deadline)
            except OSError as error:
                raise wire.Closed(str(error)) from None


def _quiet_write(descriptor: int, data: memoryview) -> int:
    """Write; a reader that is gone is an error and never a signal, also in programs that die of SIGPIPE."""
    if _SIGPIPE is None or signal.getsignal(_SIGPIPE) is not signal.SIG_DFL:
        return os.write(descriptor, data)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [_SIGPIPE])
    try:
        return os.write(descriptor, data)
    except BrokenPipeError:
        if hasattr(signal, "sigtimedwait"):
            signal.sigtimedwait([_SIGPIPE], 0)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _wait(poll: select.poll, deadline: float | None) -> None:
    left = None if deadline is None else deadline - time.monotonic()
    if (left is not None and left <= 0) or not poll.poll(None if left is None else left * 1000 + 1):
        raise DeadlineMissed
