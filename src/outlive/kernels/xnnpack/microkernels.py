"""Microkernels: their tile sizes by instruction set, which one XNNPACK takes for a node, what it packs."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from outlive.kernels.tables import read_table
from outlive.kernels.xnnpack.graph import Graph, Node
from outlive.meter import read_cpu_flags

EXTRA_BYTES = 16  # XNN_EXTRA_BYTES: include/xnnpack.h
BIAS_BYTES = 4


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Bytes of one node: for ever, for ever, while it runs, and while it is made."""

    packed_bytes: int = 0
    indirection_bytes: int = 0
    scratch_bytes: int = 0
    transient_bytes: int = 0


def round_up(size: int, multiple: int) -> int:
    """The next multiple."""
    return -(-size // multiple) * multiple


def family_of(graph: Graph, node: Node) -> tuple[str, int]:
    """The kernels' name, and bytes per output channel beside weights and bias (extra_weights_bytes)."""
    data, kernel = graph.values[node.inputs[0]], graph.values[node.inputs[1]]
    if data.kind == "quint8":
        return "qu8", 0
    if data.kind == "qint8":
        return {"qcint4": "qs8_qc4w", "qcint2": "qs8_qc2w"}.get(kernel.kind, "qs8_qc8w"), 4
    if data.kind == "qdint8" or node.numbers.get("inline"):
        sign = "qdu8" if node.numbers.get("unsigned") else "qd8"
        name = {"qcint4": "qc4w", "qbint4": "qb4w", "qcint2": "qc2w"}.get(kernel.kind, "qc8w")
        return f"{sign}_f32_{name}", 4 if name == "qb4w" else 8
    return ("f16", 0) if data.kind == "fp16" else ("f32", 0)


def tile_of(instructions: InstructionSet, family: str, kind: str = "gemm") -> GemmTile:
    """The kernel of a family; that of products where there is none for images."""
    table = instructions.gemm
    return table.get(f"{family}_{kind}") or table.get(f"{family}_gemm") or table["f32_gemm"]


def better_for_few(wide: GemmTile, narrow: GemmTile, channels: int) -> bool:
    """xnn_use_nr2 in src/microkernel-utils.c."""
    waste, waste_narrow = -channels % wide.nr, -channels % narrow.nr
    return wide.nr > channels or (waste_narrow < waste and waste * 100 > channels)


def row_bytes(tile: GemmTile, inner: int, extra_bytes: int, block: int = 0) -> int:
    """Bytes of one packed output channel (packed_stride_weights_and_biases)."""
    unit = tile.kr * tile.sr
    if tile.filter_bits == 2:
        return round_up(round_up(inner, 4), unit * tile.planes) // 4 + BIAS_BYTES + 12
    if tile.filter_bits == 4:
        packed = round_up(round_up(inner, unit * max(1, tile.planes)), 2) // 2
        return packed + BIAS_BYTES + extra_bytes + (2 * (inner // block) if block else 0)
    bias = 2 if tile.filter_bits == 16 else BIAS_BYTES
    return round_up(inner, unit) * tile.filter_bits // 8 + bias + extra_bytes


def image_tile(instructions: InstructionSet, family: str, channels: int) -> GemmTile:
    """The kernel of a convolution: a narrower one where it would be wider than there are channels."""
    tile = tile_of(instructions, family, "igemm")
    narrow = instructions.gemm.get("f32_gemm_nr2")
    if family == "f32" and narrow is not None and tile.nr > channels and narrow.mr in narrow.heights:
        return narrow
    return tile


def best_height(tile: GemmTile, rows: int) -> int:
    """xnn_get_heuristic_mr_igemm in src/operator-utils.c: the kernel with the least wasted work."""
    if rows <= tile.mr and rows in tile.heights:
        return rows
    best, least = tile.mr, -1
    for height in tile.heights:
        # calculate_microkernel_cost: loads count three times as much as multiplications.
        work = -(-rows // height) * (3 * (height + tile.nr) + height * tile.nr)
        if least < 0 or work <= least:
            best, least = height, work
    return best
