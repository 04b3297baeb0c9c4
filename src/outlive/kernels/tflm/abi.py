"""Sizes of TFLM's structs under each ABI, computed from their fields: enums, pointers and doubles differ.

One block of memory with a head and a tail, as SingleArenaBufferAllocator keeps it; its size is not known.

Source: tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.cc.
"""

from dataclasses import dataclass
from functools import cache

from outlive.kernels.tables import read_table

_FIXED = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}


@dataclass(frozen=True, slots=True, kw_only=True)
class Abi:
    """How a compiler lays out a struct: bytes of a pointer and of an enum; doubles align to 8."""

    name: str
    pointer_bytes: int
    enum_bytes: int
    compiler: str


ABIS = {
    abi.name: abi
    for abi in (
        Abi(name="cortex-m", pointer_bytes=4, enum_bytes=1, compiler="arm-none-eabi gcc, AAPCS, short enums"),
        Abi(name="int-enum", pointer_bytes=4, enum_bytes=4, compiler="32-bit, int enums (ESP32, RISC-V)"),
        Abi(name="wasm32", pointer_bytes=4, enum_bytes=4, compiler="emscripten, wasm32"),
        Abi(name="host64", pointer_bytes=8, enum_bytes=4, compiler="64-bit host, LP64"),
    )
}

# The libraries that TFLM is built with.
KERNELS = ("reference", "cmsis-nn")


@dataclass(frozen=True, slots=True, kw_only=True)
class StructLayout:
    """The size and the alignment of a struct."""

    size_bytes: int
    align_bytes: int


@cache
def layout(struct: str, abi: Abi) -> StructLayout:
    """The layout of a struct of tables/tflm.json under an ABI."""
    size = 0
    widest = 1
    for field in read_table("tflm")["structs"][struct]["fields"].split():
        kind, _, count = field.partition("*")
        one = _field(kind, abi)
        size = align_up(size, one.align_bytes) + one.size_bytes * int(count or 1)
        widest = max(widest, one.align_bytes)
    return StructLayout(size_bytes=align_up(size, widest), align_bytes=widest)


def size_of(struct: str, abi: Abi) -> int:
    """The bytes of a struct under an ABI."""
    return layout(struct, abi).size_bytes


def int_array_bytes(count: int) -> int:
    """Bytes of a TfLiteIntArray: its length, then the numbers (lite/core/c/common.cc)."""
    return 4 + 4 * count


def align_up(count: int, to: int) -> int:
    """The next multiple of `to`."""
    return -(-count // to) * to


def _field(kind: str, abi: Abi) -> StructLayout:
    if kind.startswith("@"):
        return layout(kind[1:], abi)
    if kind in ("ptr", "size"):
        return StructLayout(size_bytes=abi.pointer_bytes, align_bytes=abi.pointer_bytes)
    width = abi.enum_bytes if kind == "enum" else _FIXED[kind]
    return StructLayout(size_bytes=width, align_bytes=width)


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
