"""Standard error on its way through the recorder: passed on as it comes, its end kept."""

from __future__ import annotations

import os

# What a pipe takes without waiting once it is ready at all (POSIX: at least 512; Linux: 4096).
_PIECE = 4096
_KEPT_BYTES = 8192
_MOST_WAITING = 1 << 16


class Tee:
    """Reads what the kernel writes to its standard error and passes it on to where it went before."""

    def __init__(self, source: int, target: int) -> None:
        """Take over both descriptors; -1 if there is nothing to read."""
        self.source, self.target = source, target
        self._waiting = b""
        self._tail = b""
        if source >= 0:
            os.set_blocking(source, False)

    def wants(self) -> tuple[int, int]:
        """The descriptor to read from, if there is room, and the one to write to, if something waits."""
        reading = self.source if len(self._waiting) < _MOST_WAITING else -1
        return reading, self.target if self._waiting else -1

    def read(self) -> bool:
        """Take what is there; whether there was anything."""
        try:
            piece = os.read(self.source, _PIECE)
        except BlockingIOError:
            return False
        except OSError:
            piece = b""
        if not piece:  # nobody has the other end any more
            self.close_source()
            return False
        self._tail = (self._tail + piece)[-_KEPT_BYTES:]
        if self.target >= 0:
            self._waiting += piece
        return True

    def write(self) -> None:
        """Pass on a piece that does not make us wait."""
        try:
            sent = os.write(self.target, self._waiting[:_PIECE])
        except OSError:  # whoever read it is gone
            self.target, self._waiting = -1, b""
            return
        self._waiting = self._waiting[sent:]

    def close_source(self) -> None:
        """Nothing comes any more."""
        if self.source >= 0:
            os.close(self.source)
        self.source = -1

    def drain(self) -> None:
        """Take what a dead kernel left in the pipe, and no more than a pipe holds."""
        for _ in range(_MOST_WAITING // _PIECE):
            if self.source < 0 or not self.read():
                return

    def tail(self) -> str:
        """The last lines, as text."""
        return self._tail.decode("utf-8", errors="replace")
