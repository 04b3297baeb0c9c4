"""How a caller and its guarded worker talk: frames on a socket, and descriptors beside them.

    frame = length of head, length of body, checksum of both, head (marshal), body (pickle)
    head  = kind, segment, its size, spans in it, segments given back, segments dropped, extra, late

Large bodies and the buffers of arrays do not travel in the frame: they lie in a segment of shared memory
(`guard_blocks`), and `spans` says where. The descriptor of a new segment goes ahead on a second socket. A
frame may be `late`: sent before its buffers are copied, so that the other side can prepare itself meanwhile;
it waits for the copy before it looks at them (`guard_lane`).
Both sides run the same Python, so that `marshal` is understood. A worker whose memory is spoiled may write
anything: a frame whose checksum is wrong is never looked into, and means that the worker is lost.
"""

from __future__ import annotations

import marshal
import socket
import struct
import zlib
from typing import Any, NamedTuple

# From the caller.
STATE, FUNCTION, CALL, NEXT, CLOSE, ITEM, NO_MORE, ITEM_RAISED, PRELOAD, STOP = range(1, 11)
# From the worker.
READY, VALUE, RAISED, STREAM, YIELDED, ENDED, ASK, LOG, PRELOADED, CANNOT = range(21, 31)

_LENGTHS = struct.Struct("<III")
# A frame of nothing, which means: look into the slot (`guard_lane`).
WAKE_UP = _LENGTHS.pack(0, 0, 0)
_MAX_HEAD_BYTES, _MAX_BODY_BYTES = 16 << 20, 1 << 30
MOST_AT_ONCE = 1 << 16
# So many functions a worker keeps, the last ones; the caller counts along.
MOST_FUNCTIONS = 64
# What a body may hold and still travel in the frame.
MOST_INLINE_BYTES = 1 << 15
NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


class Closed(Exception):
    """The other side is gone, or can no longer be understood."""


class Frame(NamedTuple):
    """One message; `spans` are (offset, size) in the segment, the body's last if it lies there too."""

    kind: int
    segment: int
    size: int
    spans: list[tuple[int, int]]
    freed: list[int]
    dropped: list[int]
    extra: Any
    late: int
    body: bytes


def pack(
    kind: int, extra: Any = None, body: bytes = b"", placed: Any = None, freed: Any = (), late: int = 0
) -> bytes:
    """A frame as bytes; `placed` is what `Outbox` said, `late` the number of the copy that is to come."""
    segment, size, spans, dropped = placed if placed is not None else (0, 0, (), ())
    head = marshal.dumps((kind, segment, size, spans, freed, dropped, extra, late))
    return _LENGTHS.pack(len(head), len(body), zlib.crc32(body, zlib.crc32(head))) + head + body


class Inlet:
    """Bytes as they come, and the frames in them."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self._rest = self._rest + data if self._rest else data

    def take(self) -> Frame | None:
        """The next whole frame, or None; `Closed` if it is none."""
        rest = self._rest
        while rest.startswith(WAKE_UP):
            rest = self._rest = rest[len(WAKE_UP) :]
        if len(rest) < _LENGTHS.size:
            return None
        head_size, body_size, checksum = _LENGTHS.unpack_from(rest)
        if head_size > _MAX_HEAD_BYTES or body_size > _MAX_BODY_BYTES:
            raise Closed("a frame of an impossible size")
        start = _LENGTHS.size + head_size
        end = start + body_size
        if len(rest) < end:
            return None
        self._rest = rest[end:]
        if zlib.crc32(memoryview(rest)[_LENGTHS.size : end]) != checksum:
            raise Closed("a frame that is not what was sent")
        try:
            kind, segment, size, spans, freed, dropped, extra, late = marshal.loads(
                rest[_LENGTHS.size : start]
            )
        except (ValueError, EOFError, TypeError):
            raise Closed("a frame that cannot be read") from None
        return Frame(kind, segment, size, spans, freed, dropped, extra, late, rest[start:end])


def send_descriptor(rights: socket.socket, descriptor: int) -> None:
    """Give the other side a descriptor."""
    try:
        socket.send_fds(rights, [b"\0"], [descriptor])
    except (OSError, ValueError) as error:
        raise Closed(str(error)) from None


def receive_descriptor(rights: socket.socket) -> int:
    """The descriptor that was sent ahead of a frame."""
    try:
        data, descriptors, _, _ = socket.recv_fds(rights, 1, 1)
    except OSError as error:
        raise Closed(str(error)) from None
    if not data or not descriptors:
        raise Closed("a segment without a descriptor")
    return descriptors[0]
