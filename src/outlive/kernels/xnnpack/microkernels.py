"""Kernels and tiles: which one XNNPACK takes for a node, and how wide a packed output channel is in it."""

from __future__ import annotations

from dataclasses import dataclass

from outlive.kernels.xnnpack.graph import Graph, Node
from outlive.kernels.xnnpack.instruction_sets import GemmTile, InstructionSet

EXTRA_BYTES = 16  # XNN_EXTRA_BYTES: include/xnnpack.h
BIAS_BYTES = 4


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
