"""Orders to a nursery or a spare worker: a message in JSON, and the descriptors that go with it."""

from __future__ import annotations

import array
import json
import socket
from typing import Any

_MAX_MESSAGE_BYTES = 1 << 20
_MAX_DESCRIPTORS = 8
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)
# What arrives is not handed on to programs that this process starts: their copy of a pipe would hide a death.
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


def send(channel: socket.socket, message: dict[str, Any], descriptors: list[int]) -> None:
    """Send an order whole; OSError if that cannot be."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    channel.sendmsg([json.dumps(message).encode("utf-8")], rights, _NO_SIGNAL)


def receive(channel: socket.socket) -> tuple[dict[str, Any] | None, list[int], bool]:
    """An order, the descriptors that came with it, and whether all of them did; None at the end."""
    size = socket.CMSG_SPACE(_MAX_DESCRIPTORS * array.array("i").itemsize)
    data, ancillary, flags, _ = channel.recvmsg(_MAX_MESSAGE_BYTES, size, _CLOSE_ON_EXEC)
    descriptors = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    is_whole = not flags & socket.MSG_CTRUNC
    return (json.loads(data.decode("utf-8")) if data else None), list(descriptors), is_whole
