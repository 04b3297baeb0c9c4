"""Instruction sets: the tile sizes XNNPACK's kernels have on each, and which one this machine has."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from outlive.kernels.tables import read_table
from outlive.meter import read_cpu_flags


@dataclass(frozen=True, slots=True)
class GemmTile:
    """A matrix kernel: `mr` rows by `nr` columns, `kr * sr` values of the inner dimension at a time.

    `heights` are the row counts it has kernels for; `arch` orders kernels by the instructions they need.
    """

    mr: int
    nr: int
    kr: int
    sr: int
    planes: int
    filter_bits: int
    arch: int
    heights: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionSet:
    """What XNNPACK's kernels are like on one kind of CPU."""

    name: str
    gemm: Mapping[str, GemmTile]
    depthwise: Mapping[str, tuple[tuple[int, int], ...]]  # (taps, channels) of each kernel
    scale_channels: int  # channel tile of the 1x1 depthwise kernel (vmulcaddc)
    alignment_bytes: int  # XNN_ALLOCATION_ALIGNMENT: src/xnnpack/common.h


def instruction_sets() -> tuple[str, ...]:
    """The names of all instruction sets there are tables for."""
    return tuple(read_table("xnnpack_tiles")["instruction_sets"])


@cache
def instruction_set(name: str) -> InstructionSet:
    """The tile sizes of one instruction set."""
    table = read_table("xnnpack_tiles")["instruction_sets"][name]
    return InstructionSet(
        name=name,
        gemm={kind: _gemm_tile(*row) for kind, row in table["gemm"].items()},
        depthwise={
            kind: tuple((taps, channels) for taps, channels in rows) for kind, rows in table["dwconv"].items()
        },
        scale_channels=table["vmulcaddc"],
        alignment_bytes=64 if name.startswith("x86") else 16,
    )


def _gemm_tile(mr: int, nr: int, kr: int, sr: int, planes: int, filter_bits: int, *rest: Any) -> GemmTile:
    arch, heights = rest
    return GemmTile(mr, nr, kr, sr, planes, filter_bits, arch, tuple(heights))


def this_machine(root: Path = Path("/"), machine: str = "") -> str:
    """The name of the instruction set XNNPACK would use here (src/configs/hardware-config.c)."""
    flags = read_cpu_flags(root)
    machine = (machine or platform.machine()).lower()
    choose = _arm if machine.startswith(("aarch64", "arm")) else _x86
    return choose(flags or frozenset(), known=flags is not None)


def _arm(words: frozenset[str], *, known: bool) -> str:
    if "i8mm" in words:
        return "arm64-i8mm"
    # Without /proc (macOS) the CPU is an Apple one: all of them have dot products.
    return "arm64-dotprod" if "asimddp" in words or not known else "arm64-neon"


def _x86(words: frozenset[str], *, known: bool) -> str:
    if not known:
        return "x86-avx2"
    avx2 = {"avx2", "fma", "f16c"} <= words
    avx512 = avx2 and {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= words
    vnni = avx512 and "avx512_vnni" in words
    gfni = "gfni" in words
    if vnni and gfni:
        return "x86-amx" if "amx_int8" in words else "x86-avx512vnni-gfni"
    if avx512:
        return "x86-avx512vnni" if vnni else "x86-avx512"
    if avx2:
        return "x86-avxvnni" if gfni and "avx_vnni" in words else "x86-avx2"
    return "x86-avx" if "avx" in words else "x86-sse4.1"
