"""What a worker that has run a model shares: read into memory of our own, never mapped.

Memory that is mapped can be changed while it is looked at, and some of it be taken away, which kills whoever
looks (SIGBUS); a read ends short.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from outlive.meter import read_machine
from outlive.process.child.guard_blocks import check_segment
from outlive.process.operating_system import read_into

# A .tflite file has 2 GiB at most, and nothing that comes this way is larger.
_MOST_BYTES = 4 << 30
# A worker has a few that it uses again and again (`guard_blocks`).
_MOST_SEGMENTS, _MOST_SPANS = 32, 256
# Below this the machine is not asked what it has left.
_LITTLE_BYTES = 64 << 20


class SegmentReader:
    """The segments that the other side writes, as `Inbox` has them, but for plain answers."""

    def __init__(self, receive_descriptor: Callable[[], int]) -> None:
        """None yet; `receive_descriptor` gives the descriptor of a new one."""
        self._receive_descriptor = receive_descriptor
        self._files: dict[int, int] = {}
        self._freed: list[int] = []

    def leases(self, number: int, size: int, spans: Sequence[tuple[int, int]]) -> list[bytearray]:
        """Copies of parts of a segment; ValueError or OSError if it is not what it was said to be."""
        total = sum(length for _, length in spans)
        if len(spans) > _MOST_SPANS or total > _most_bytes(total):
            raise ValueError(f"{total} bytes in {len(spans)} parts are more than can be meant")
        if number not in self._files:
            self._open(number, size)
        self._freed.append(number)
        return [_read(self._files[number], offset, length) for offset, length in spans]

    def _open(self, number: int, size: int) -> None:
        if len(self._files) >= _MOST_SEGMENTS:
            raise ValueError(f"{len(self._files) + 1} segments are more than can be meant")
        descriptor = self._receive_descriptor()
        try:
            check_segment(descriptor, size)
        except BaseException:
            os.close(descriptor)
            raise
        self._files[number] = descriptor

    def drop(self, numbers: Sequence[int]) -> None:
        """The other side will not use these again."""
        for number in numbers:
            descriptor = self._files.pop(number, None)
            if descriptor is not None:
                os.close(descriptor)

    def take_freed(self) -> list[int]:
        """All that were read."""
        freed, self._freed = self._freed, []
        return freed

    def mappings(self) -> list[object]:
        """None."""
        return []

    def close(self) -> None:
        """Give all descriptors back."""
        self.drop(list(self._files))


def _most_bytes(wanted: int) -> int:
    available = None if wanted < _LITTLE_BYTES else read_machine().available_bytes
    return _MOST_BYTES if available is None else min(_MOST_BYTES, available)


def _read(descriptor: int, offset: int, length: int) -> bytearray:
    held = bytearray(length)
    view, done = memoryview(held), 0
    while done < length:
        count = read_into(descriptor, view[done:], offset + done)
        if not count:
            raise ValueError(f"a segment that ends after {offset + done} bytes")
        done += count
    return held
