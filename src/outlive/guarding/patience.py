"""Work of a moment that Ctrl-C does not cut in two: what was read is shown, and then the interrupt comes."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

# What takes longer, because whoever is to be shown it does not read, can be interrupted after all.
_PATIENCE_S = 0.5


class Unhurried:
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
        if self._held is not None or time.monotonic() - self._began > _PATIENCE_S:
            self._held = None
            self._usual(number, frame)
        else:
            self._held = number, frame
