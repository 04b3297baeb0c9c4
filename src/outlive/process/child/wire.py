"""How parent, nursery and worker talk: frames of JSON and raw bytes on pipes, and words in a shared block.

    frame   = marker, length of header, length of payload, header (JSON), payload (bytes)
    a hot call is no frame: the parent counts up COMMAND in the shared block, the worker answers in DONE;
    a side that has gone to sleep is woken by one byte on its pipe

Runs under any Python from 3.8 on, with the standard library only: the worker may live in another
environment than its parent.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

MARKER = 0xF0
_HEAD = struct.Struct("<BIQ")
HEAD_BYTES = _HEAD.size
# What is large goes into the payload. The parent holds each answer to this and to a schema (`answers`).
MAX_HEADER_BYTES = 1 << 20

# Words of the shared block (32 bits each).
COMMAND, DONE, STATUS, WORKER_STATE, PARENT_STATE, STAGE, TOOK_US, PATIENT, PARENT_CORE = range(9)
BLOCKED, SPINNING = 0, 1
OK, FRAME_FOLLOWS = 0, 1
HEADER_BYTES = 4096

# The last words of a worker that has ended itself for holding more memory than it may.
OWN_END = "outlive: the worker holds more memory than it may\n"

STAGES = ("start", "load", "allocate", "set", "invoke", "get", "free", "idle")


class ConnectionClosed(Exception):
    """The other side is gone."""


def pack(header: dict[str, Any], payload: Any = b"") -> list[Any]:
    """One command as parts to be written in a row; file names are as they are, also if they are not UTF-8."""
    return _parts(json.dumps(header).encode("ascii"), payload)


def _parts(text: bytes, payload: Any) -> list[Any]:
    view = memoryview(payload).cast("B")
    return [_HEAD.pack(MARKER, len(text), len(view)) + text, view]


def unpack_head(data: bytes) -> tuple[int, int]:
    """Sizes of header and payload, as they are claimed."""
    _, header_size, payload_size = _HEAD.unpack(data)
    return header_size, payload_size


def send(fd: int, header: dict[str, Any], payload: Any = b"") -> None:
    """Answer with one frame; `ConnectionClosed` if the other side is gone."""
    for part in _parts(plain_text(header), payload):
        write_all(fd, part)


def plain_text(value: Any) -> bytes:
    """JSON that every reader takes: half of a character pair becomes a question mark."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def receive_rest(fd: int, first: bytes) -> tuple[dict[str, Any], bytes]:
    """The command whose marker has been read."""
    header_size, payload_size = unpack_head(first + read_exactly(fd, HEAD_BYTES - 1))
    return json.loads(read_exactly(fd, header_size).decode("ascii")), read_exactly(fd, payload_size)


def write_all(fd: int, data: Any) -> None:
    """Write all bytes, however many calls it takes."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except OSError as error:
            raise ConnectionClosed(str(error)) from None


def read_exactly(fd: int, count: int) -> bytes:
    """Exactly `count` bytes; `ConnectionClosed` at the end of the stream."""
    data = bytearray()
    while len(data) < count:
        try:
            part = os.read(fd, min(count - len(data), 1 << 20))
        except OSError as error:
            raise ConnectionClosed(str(error)) from None
        if not part:
            raise ConnectionClosed("end of stream")
        data += part
    return bytes(data)
