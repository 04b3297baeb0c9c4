"""How a caller and its guarded worker talk: frames on a socket, and descriptors beside them.

    frame = length of head, length of body, checksum of both, head, body
    head  = kind, segment, its size, late, counts; spans, segments given back, segments dropped; facts; rest

Large bodies and the buffers of arrays do not travel in the frame: they lie in a segment of shared memory
(`segments`), and `spans` says where. The descriptor of a new segment goes ahead on a second socket. A
frame may be `late`: sent before its buffers are copied, so that the other side can prepare itself meanwhile;
it waits for the copy before it looks at them (`lane`).

Each kind of frame has a fixed number of whole numbers (`facts`); a `rest` of bytes may follow. A worker may
write anything, because its memory is spoiled or because the model that it ran has taken it over: a head is
numbers of a fixed size, every one is checked, and whatever is not as it must be is `Malformed`.
"""

from __future__ import annotations

import socket
import struct
import zlib
from typing import Any, NamedTuple

from ..operating_system import segment_memory

# From the caller.
STATE, FUNCTION, CALL, NEXT, CLOSE, ITEM, NO_MORE, ITEM_RAISED, PRELOAD, STOP = range(1, 11)
# From the worker.
READY, VALUE, RAISED, STREAM, YIELDED, ENDED, ASK, LOG, PRELOADED, CANNOT = range(21, 31)

_LENGTHS = struct.Struct("<III")
# Kind, late, segment, its size, and how many spans, segments given back and segments dropped follow.
_HEAD = struct.Struct("<IIIQIII")
_SIZES = "QQQ"  # private memory, resident memory, and what RLIMIT_DATA counts
_NO_FACTS = struct.Struct("<")
_ANSWER = struct.Struct("<" + _SIZES + "Q")  # and the number of the call
_FACTS = {
    FUNCTION: struct.Struct("<II"),  # its number, and that of the one it replaces
    CALL: struct.Struct("<Iq??"),  # function, memory (negative: no limit), has iterators, plain
    READY: struct.Struct("<" + _SIZES),
    PRELOADED: struct.Struct("<" + _SIZES),
    ASK: struct.Struct("<I"),  # the number of an iterator
    **dict.fromkeys((VALUE, RAISED, STREAM, YIELDED, ENDED, CANNOT), _ANSWER),
    **dict.fromkeys((STATE, NEXT, CLOSE, ITEM, NO_MORE, ITEM_RAISED, PRELOAD, STOP, LOG), _NO_FACTS),
}
# The whole of a head that has no lists, which is the usual one.
_SHORT = {kind: struct.Struct(_HEAD.format + facts.format[1:]) for kind, facts in _FACTS.items()}
_NO_LISTS = (0, 0, 0, 0, 0)
# A frame of nothing, which means: look into the slot (`lane`).
WAKE_UP = _LENGTHS.pack(0, 0, 0)
MOST_AT_ONCE = 1 << 16
# So many functions a worker keeps, the last ones; the caller counts along.
MOST_FUNCTIONS = 64
# What a body may hold and still travel in the frame.
MOST_INLINE_BYTES = 1 << 15
# What a head may hold: the spans of a million arrays. One from a worker that ran a model is far smaller.
_MOST_HEAD_BYTES, MOST_PLAIN_HEAD_BYTES = 16 << 20, 1 << 16
NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


class Closed(Exception):
    """The other side is gone, or can no longer be understood."""


class Malformed(Closed):
    """The other side sent what cannot be an answer."""


class Frame(NamedTuple):
    """One message; `spans` are (offset, size) in the segment, the body's last if it lies there too."""

    kind: int
    segment: int
    size: int
    spans: list[tuple[int, int]]
    freed: tuple[int, ...]
    dropped: tuple[int, ...]
    facts: tuple[Any, ...]
    rest: bytes
    late: int
    body: bytes


def pack(
    kind: int,
    facts: Any = (),
    body: bytes = b"",
    placed: Any = None,
    freed: Any = (),
    late: int = 0,
    rest: bytes = b"",
) -> bytes:
    """A frame as bytes; `placed` is what `Outbox` said, `late` the number of the copy that is to come."""
    if placed is None and not freed:
        head = _SHORT[kind].pack(kind, late, *_NO_LISTS, *facts) + rest
    else:
        segment, size, spans, dropped = placed if placed is not None else (0, 0, (), ())
        numbers = [number for span in spans for number in span]
        form = "<%dQ%dI" % (len(numbers), len(freed) + len(dropped))
        head = _HEAD.pack(kind, late, segment, size, len(spans), len(freed), len(dropped))
        head += struct.pack(form, *numbers, *freed, *dropped) + _FACTS[kind].pack(*facts) + rest
    return _LENGTHS.pack(len(head), len(body), zlib.crc32(body, zlib.crc32(head))) + head + body


class FrameReader:
    """Bytes as they come, and the frames in them."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self._rest = b""
        self.most_head_bytes = _MOST_HEAD_BYTES

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self._rest = self._rest + data if self._rest else data

    def take(self) -> Frame | None:
        """The next whole frame, or None; `Malformed` if it is none."""
        rest, start = self._rest, 0
        while rest.startswith(WAKE_UP, start):
            start += len(WAKE_UP)
        if start:
            rest = self._rest = rest[start:]
        if len(rest) < _LENGTHS.size:
            return None
        head_size, body_size, checksum = _LENGTHS.unpack_from(rest)
        if head_size > self.most_head_bytes or body_size > MOST_INLINE_BYTES:
            raise Malformed("a frame of an impossible size")
        start = _LENGTHS.size + head_size
        end = start + body_size
        if len(rest) < end:
            return None
        self._rest = rest[end:]
        if zlib.crc32(memoryview(rest)[_LENGTHS.size : end]) != checksum:
            raise Malformed("a frame that is not what was sent")
        try:
            return _read_head(rest[_LENGTHS.size : start], rest[start:end])
        except (struct.error, KeyError) as error:
            raise Malformed("a frame that cannot be read: %r" % (error,)) from None


def _read_head(head: bytes, body: bytes) -> Frame:
    kind, late, segment, size, spans, freed, dropped = _HEAD.unpack_from(head)
    known = _FACTS[kind]
    if not (spans or freed or dropped):
        facts = known.unpack_from(head, _HEAD.size)
        return Frame(kind, segment, size, [], (), (), facts, head[_HEAD.size + known.size :], late, body)
    form = "<%dQ%dI" % (2 * spans, freed + dropped)
    place = _HEAD.size + 16 * spans + 4 * (freed + dropped)
    if place > len(head):
        raise Malformed("a frame that promises more than it holds")
    numbers = struct.unpack_from(form, head, _HEAD.size)
    where, lists = _checked(numbers[: 2 * spans], size), numbers[2 * spans :]
    facts = known.unpack_from(head, place)
    rest = head[place + known.size :]
    return Frame(kind, segment, size, where, lists[:freed], lists[freed:], facts, rest, late, body)


def _checked(numbers: tuple[int, ...], size: int) -> list[tuple[int, int]]:
    """Spans that lie one after the other in a segment of this size."""
    spans, end = list(zip(numbers[::2], numbers[1::2])), 0
    for offset, length in spans:
        if offset < end or offset + length > size:
            raise Malformed("a frame that points outside of its segment, or twice to one place")
        end = offset + length
    return spans


def send_descriptor(rights: socket.socket, descriptor: int) -> None:
    """Give the other side a descriptor."""
    try:
        segment_memory.send_descriptor(rights, descriptor)
    except BlockingIOError:
        raise Malformed("it does not take what it was sent") from None
    except (OSError, ValueError) as error:
        raise Closed(str(error)) from None


def receive_descriptor(rights: socket.socket) -> int:
    """The descriptor that was sent ahead of a frame: it is there by now, or never will be."""
    try:
        return segment_memory.receive_descriptor(rights)
    except OSError as error:
        raise Malformed("a segment whose descriptor did not come: %s" % error) from None
