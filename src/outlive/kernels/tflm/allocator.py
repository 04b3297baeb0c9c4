"""One block of memory with a head and a tail, as SingleArenaBufferAllocator keeps it; its size is not known.

Source: tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.cc.
"""

from __future__ import annotations

from outlive.kernels.tflm.abi import Abi, align_up, layout

BUFFER_ALIGN_BYTES = 16  # MicroArenaBufferAlignment: micro_arena_constants.h


class SingleArena:
    """Head, temporary and tail bytes as TFLM moves them; `least_bytes` is the smallest arena so far."""

    __slots__ = ("abi", "head_bytes", "least_bytes", "parts", "tail_bytes", "temp_bytes")

    def __init__(self, abi: Abi) -> None:
        self.abi = abi
        self.head_bytes = 0
        self.temp_bytes = 0
        self.tail_bytes = 0
        self.least_bytes = 0
        self.parts: dict[str, int] = {}

    def keep(self, size_bytes: int, align_bytes: int, part: str) -> None:
        """Take bytes of the tail for good; counted from an end aligned to 16."""
        before = self.tail_bytes
        self.tail_bytes = align_up(before + size_bytes, align_bytes)
        self.parts[part] = self.parts.get(part, 0) + self.tail_bytes - before
        # The tail is held against the head alone: it may run into temporaries (AllocatePersistentBuffer).
        self._need(self.head_bytes + self.tail_bytes)

    def keep_struct(self, struct: str, part: str, count: int = 1) -> None:
        """Take an array of structs of the tail."""
        one = layout(struct, self.abi)
        self.keep(one.size_bytes * count, one.align_bytes, part)

    def keep_buffer(self, size_bytes: int, part: str) -> None:
        """Take a buffer of the tail as AllocatePersistentBuffer gives one to a kernel."""
        self.keep(size_bytes, BUFFER_ALIGN_BYTES, part)

    def lend(self, size_bytes: int, align_bytes: int) -> None:
        """Take bytes above the head until `take_back`; freed one by one they do not come back."""
        self.temp_bytes = align_up(self.temp_bytes, align_bytes) + size_bytes
        self._need(self.temp_bytes + self.tail_bytes)

    def lend_struct(self, struct: str) -> None:
        """Take a struct above the head."""
        one = layout(struct, self.abi)
        self.lend(one.size_bytes, one.align_bytes)

    def take_back(self) -> None:
        """Give all that was lent back (ResetTempAllocations)."""
        self.temp_bytes = self.head_bytes

    def resize_head(self, size_bytes: int) -> None:
        """Make the head this large (ResizeBuffer)."""
        self.head_bytes = self.temp_bytes = size_bytes
        self._need(self.head_bytes + self.tail_bytes)

    def room(self, size_bytes: int) -> None:
        """Ask for aligned room between what is lent and the tail, as the planner gets it."""
        lent = align_up(self.temp_bytes, BUFFER_ALIGN_BYTES)
        self._need(lent + align_up(self.tail_bytes, BUFFER_ALIGN_BYTES) + size_bytes)

    def _need(self, size_bytes: int) -> None:
        self.least_bytes = max(self.least_bytes, size_bytes)
