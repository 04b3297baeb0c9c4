"""Sizes of TFLM's structs under each ABI, computed from their fields: enums, pointers and doubles differ."""

from __future__ import annotations

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
