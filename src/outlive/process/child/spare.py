"""A worker that is forked before anybody asks for it, and waits for its order.

nursery ──fork, once a worker has been given away──> spare ──order, descriptors──> worker

Of the 6 to 8 ms that opening a small model takes, a spare saves one or so: it is forked already, and has
touched some of the pages that every worker touches. It knows nothing of any model and holds nothing but its
end of a socket; one that nobody wants for a while goes again.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from . import confine, orders

# How long a spare waits to be wanted.
_KEPT_S = 10.0


class Spares:
    """The one spare of a nursery, if it has one."""

    def __init__(self, become: Callable[[socket.socket], None]) -> None:
        """`become` is called in the forked child with its end of the socket, and never returns."""
        self._become = become
        self._process = 0
        self._until = 0.0
        self._channel: socket.socket | None = None

    def make(self) -> None:
        """Have a spare; without a word if that cannot be, for nobody has asked yet."""
        # On a single core it would only take the time of the worker that has just begun.
        if self._process or confine.count_cores() < 2:
            return
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError:
            return
        with theirs:
            try:
                self._process = os.fork()
            except OSError:
                ours.close()
                return
            if not self._process:
                ours.close()
                self._become(theirs)
        ours.setblocking(False)
        self._channel, self._until = ours, time.monotonic() + _KEPT_S

    def process(self) -> int:
        """The spare's process; 0 if there is none."""
        return self._process

    def order(self, message: dict[str, Any], descriptors: list[int]) -> bool:
        """Let the spare begin as a worker; False if it cannot be reached, and then it is gone."""
        assert self._channel is not None
        try:
            orders.send(self._channel, message, descriptors)
        except OSError:
            self.drop()
            return False
        self.forget()
        return True

    def drop(self) -> None:
        """End the spare, if there is one."""
        if self._process:
            try:
                os.kill(self._process, signal.SIGKILL)
            except OSError:
                pass
        self.forget()

    def forget(self) -> None:
        """It has ended, or is a worker now."""
        if self._channel is not None:
            self._channel.close()
        self._process, self._channel = 0, None

    def look(self) -> None:
        """End a spare that nobody has wanted for a while."""
        if self._process and self._until <= time.monotonic():
            self.drop()

    def pause_ms(self) -> int | None:
        """How long until the next look; None for as long as one likes."""
        return max(1, int((self._until - time.monotonic()) * 1000) + 1) if self._process else None
