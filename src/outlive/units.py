"""Sizes, shapes and data types, in and out: the words every package shares for amounts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_SIZE_UNITS = {
    "": 1,
    "B": 1,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "TB": 1000**4,
    "KIB": 1024,
    "MIB": 1024**2,
    "GIB": 1024**3,
    "TIB": 1024**4,
}
_SIZE_PATTERN = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-zA-Z]*)\s*")


class Count(int):
    """How many are done; `total` is how many there are, where that is known."""

    total: int | None

    def __new__(cls, done: int, total: int | None = None) -> Count:
        """So many, of a total."""
        made = super().__new__(cls, done)
        made.total = total
        return made


class Step(str):
    """What is being done, in words; `steps` is how many steps are done."""

    steps: Count

    def __new__(cls, words: str, done: int, total: int | None = None) -> Step:
        """These words, after so many steps of a total."""
        made = super().__new__(cls, words)
        made.steps = Count(done, total)
        return made


# Bits of one element as stored. Types without a fixed size (string, resource, variant) are absent.
# Sizes as GetSizeOfType and BytesRequired have them: LiteRT, tflite/util.cc.
DTYPE_BITS = {
    "float64": 64,
    "float32": 32,
    "float16": 16,
    "bfloat16": 16,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "int64": 64,
    "int32": 32,
    "int16": 16,
    "int8": 8,
    "int4": 4,
    "int2": 2,
    "uint64": 64,
    "uint32": 32,
    "uint16": 16,
    "uint8": 8,
    "uint4": 4,
    "bool": 8,
    "complex64": 64,
    "complex128": 128,
}


_UNCOUNTABLE = 2**80


def parse_bytes(text: str) -> int:
    """Bytes in a size such as `512KB`, `8MB` or `2GiB` (KB is 1000 bytes, KiB 1024)."""
    match = _SIZE_PATTERN.fullmatch(text)
    unit = _SIZE_UNITS.get(match[2].upper()) if match else None
    if match is None or unit is None:
        raise ValueError(f"{text!r} is not a size; write a number and a unit, such as 512KB, 8MB or 2GiB")
    return int(float(match[1]) * unit) if "." in match[1] else int(match[1]) * unit


def format_bytes(count: int, like: int | None = None) -> str:
    """A size a person can read: `812 B`, `13.2 KiB`, `1.72 GiB`; `1.72 GB` beside a size given in GB.

    `like` is the size that it is compared with, or the size itself: what was given as 64MB is written 64 MB.
    """
    decimal = like is not None and _is_decimal(like)
    base, letter = (1000, "B") if decimal else (1024, "iB")
    if abs(count) < base:
        return f"{count} B"
    value = float(count)
    for prefix in "KMGTP":
        value /= base
        if abs(value) < 999.5 or prefix == "P":
            break
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    shown = f"{value:g}" if decimal and count == like else f"{value:.{digits}f}"
    return f"{shown} {prefix}{letter}"


def exact_size(size: int) -> str:
    """A size as one writes it on a command line: `64MB`, `64MiB`, or `12345B`."""
    for unit in ("GiB", "GB", "MiB", "MB", "KiB", "KB"):
        count, rest = divmod(size, _SIZE_UNITS[unit.upper()])
        if count and not rest:
            return f"{count}{unit}"
    return f"{size}B"


def _is_decimal(size: int) -> bool:
    """True of a size that somebody wrote in KB, MB or GB: a round number of them."""
    unit = 1000 ** max(0, (len(str(abs(size))) - 1) // 3)
    return bool(unit > 1 and size * 10 % unit == 0)


def format_shape(shape: Sequence[int]) -> str:
    """A shape as `1x224x224x3`; `?` where a dimension is not known, `scalar` for rank 0."""
    if not shape:
        return "scalar"
    return "x".join("?" if size == -1 else str(size) for size in shape)


def count_elements(shape: Sequence[int]) -> int | None:
    """Elements in a tensor of this shape, at most 2**80; None if a dimension is not known or negative."""
    if shape and min(shape) < 0:
        return None
    if len(shape) <= 8:
        return min(math.prod(shape), _UNCOUNTABLE)
    count = 0 if 0 in shape else 1
    for size in shape:
        # A hostile shape may have a million dimensions: numbers that grow on and on would take for ever.
        count = min(count * size, _UNCOUNTABLE)
    return count


def tensor_bytes(shape: Sequence[int], dtype: str) -> int | None:
    """Bytes of a dense tensor; None where shape or element size is not fixed (int4 packs two to a byte)."""
    bits = DTYPE_BITS.get(dtype)
    count = count_elements(shape)
    if bits is None or count is None:
        return None
    return (count * bits + 7) // 8


def plural(count: int, one: str, many: str = "") -> str:
    """`1 tensor`, `3 tensors`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def says_open(signature: tuple[int, ...] | None, given: tuple[int, ...]) -> bool:
    """True if a shape signature leaves open (-1) just the dimensions in which a shape differs from it."""
    if signature is None or -1 not in signature or len(signature) != len(given):
        return False
    return all(wanted in (-1, size) for wanted, size in zip(signature, given, strict=True))


def may_become(shape: tuple[int, ...], signature: tuple[int, ...] | None, given: tuple[int, ...]) -> bool:
    """True if an input may be resized to a shape: its signature says so, or a 1 stands for any size.

    Converters write 1 for a size that they do not know, older ones without a signature beside it. A last
    dimension of 1 is the channels, unless the file knows no size at all: a kernel may take three in its place
    as groups, and compute something else.
    """
    if signature is not None and -1 in signature:
        return says_open(signature, given)
    if len(shape) != len(given):
        return False
    fixed = set(shape) != {1}
    last = len(shape) - 1
    return all(
        size == new or (size == 1 and new > 0 and not (fixed and place == last))
        for place, (size, new) in enumerate(zip(shape, given, strict=True))
    )


def list_some(items: Sequence[object], most: int = 8) -> str:
    """The first few items, and how many more there are: `3, 7 and 12 more`."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(map(str, items[:most])) + more
