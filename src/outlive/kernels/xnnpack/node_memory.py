"""What XNNPACK allocates for a node: packed weights, pointers to pixels, scratch space while it runs.

Microkernels: their tile sizes by instruction set, which one XNNPACK takes for a node, what it packs.
"""

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
        usual = "x86-avx512vnni-avxvnni" if "avx_vnni" in words else "x86-avx512vnni-gfni"
        return "x86-amx" if "amx_int8" in words else usual
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


# Of the level 2 data cache, which decides whether an input is quantized whole or a few rows at a time.
_CACHE_BYTES = 512 * 1024
_POINTER_BYTES = 8


def cost(graph: Graph, node: Node, instructions: InstructionSet, threads: int) -> Cost:
    """What a node makes XNNPACK allocate; tables, descriptors and activations are counted elsewhere."""
    values = [graph.values[value] for value in (*node.inputs, *node.outputs)]
    if not all(value.elements for value in values):
        return Cost()
    match node.type:
        case "fully_connected":
            return _fully_connected(graph, node, instructions, threads)
        case "batch_matrix_multiply":
            return _batch_matmul(graph, node, instructions, threads)
        case "convolution_2d" | "depthwise_convolution_2d":
            return _convolution(graph, node, instructions)
        case "deconvolution_2d":
            return _deconvolution(graph, node, instructions)
        case "average_pooling_2d" | "max_pooling_2d" | "argmax_pooling_2d" | "unpooling_2d":
            return _pooling(graph, node)
        case "static_resize_bilinear_2d":
            return _resize(graph, node)
        case "reduce" if graph.values[node.inputs[0]].kind != "fp32":
            return Cost(scratch_bytes=4 * graph.values[node.outputs[0]].elements + EXTRA_BYTES)
        case _:
            return Cost()


def _fully_connected(graph: Graph, node: Node, instructions: InstructionSet, threads: int) -> Cost:
    data, kernel = graph.values[node.inputs[0]], graph.values[node.inputs[1]]
    family, extra = family_of(graph, node)
    outer, inner = kernel.shape[0], kernel.shape[-1]
    tile = tile_of(instructions, family)
    narrow = instructions.gemm.get("f32_gemm_nr2")
    if family == "f32" and narrow is not None and better_for_few(tile, narrow, outer):
        tile = narrow
    row = row_bytes(tile, inner, extra, 32 if kernel.kind == "qbint4" else 0)
    rows = data.elements // max(1, inner)
    return Cost(
        packed_bytes=round_up(round_up(outer, tile.nr) * row, instructions.alignment_bytes),
        scratch_bytes=_quantized_rows(node, tile, rows, inner, outer * row, threads),
        transient_bytes=4 * kernel.elements if kernel.kind == "fp16" and family == "f32" else 0,
    )


def _batch_matmul(graph: Graph, node: Node, instructions: InstructionSet, threads: int) -> Cost:
    left, right = graph.values[node.inputs[0]], graph.values[node.inputs[1]]
    if min(len(left.shape), len(right.shape)) < 2:
        return Cost()
    family, extra = family_of(graph, node)
    tile = tile_of(instructions, family)
    outer, inner = right.shape[-2:] if node.numbers.get("transposed") else right.shape[:-3:-1]
    batches = right.elements // max(1, inner * outer)
    row = row_bytes(tile, inner, extra)
    packed = round_up(batches * round_up(outer, tile.nr) * row, instructions.alignment_bytes)
    rows = left.elements // max(1, inner)
    scratch = _quantized_rows(node, tile, rows, inner, outer * row, threads)
    if right.place == "static":
        return Cost(packed_bytes=packed, scratch_bytes=scratch)
    return Cost(scratch_bytes=packed + scratch)


def _quantized_rows(
    node: Node, tile: GemmTile, rows: int, inner: int, weight_bytes: int, threads: int
) -> int:
    """Room for inputs quantized on the way: a tile for each thread, or all if the cache is too small."""
    if not node.numbers.get("inline"):
        return 0
    height = rows if rows <= tile.mr and rows in tile.heights else tile.mr
    per_row = 8 + round_up(inner, tile.kr * tile.sr)  # xnn_pack_lh_fx_qd8_packed_size: src/pack-lh.cc
    fits = weight_bytes + height * per_row <= _CACHE_BYTES
    if not fits or threads * height > round_up(rows, height):
        return round_up(rows, tile.mr) * per_row
    return threads * round_up(height, tile.mr) * per_row


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """How a kernel moves over an image."""

    height: int
    width: int
    stride_h: int
    stride_w: int
    dilation_w: int
    out_h: int
    out_w: int
    padded: bool

    @property
    def taps(self) -> int:
        return self.height * self.width

    def steps(self) -> int:
        """Pointers for one row of outputs (step_height in src/operators)."""
        step = min(self.stride_w, self.width) if self.dilation_w == 1 else self.width
        return self.taps + (self.out_w - 1) * step * self.height


def _convolution(graph: Graph, node: Node, instructions: InstructionSet) -> Cost:
    """src/operators/convolution-nhwc.c: kernels for depthwise ones, or products over pointers."""
    data, kernel = graph.values[node.inputs[0]], graph.values[node.inputs[1]]
    if len(kernel.shape) != 4 or len(data.shape) != 4:
        return Cost()
    window = _window(graph, node, kernel.shape[1], kernel.shape[2])
    if node.type == "depthwise_convolution_2d":
        groups = kernel.shape[3] // max(1, node.numbers.get("depth_multiplier", 1))
        inner, outer = 1, kernel.shape[3] // max(1, groups)
    else:
        groups = max(1, data.shape[3] // max(1, kernel.shape[3]))
        inner, outer = kernel.shape[3], kernel.shape[0] // groups
    transient = 4 * kernel.elements if kernel.kind == "fp16" and data.kind == "fp32" else 0
    if inner == outer == 1:
        light = _depthwise(graph, node, instructions, window, groups)
        if light is not None:
            return Cost(packed_bytes=light[0], indirection_bytes=light[1], transient_bytes=transient)
    return _indirect(graph, node, instructions, window, groups, inner, outer, transient)


def _deconvolution(graph: Graph, node: Node, instructions: InstructionSet) -> Cost:
    """src/operators/deconvolution-nhwc.c."""
    data, kernel = graph.values[node.inputs[0]], graph.values[node.inputs[1]]
    if len(kernel.shape) != 4 or len(data.shape) != 4:
        return Cost()
    window = _window(graph, node, kernel.shape[1], kernel.shape[2])
    family, extra = family_of(graph, node)
    outer, inner = kernel.shape[0], kernel.shape[3]
    tile = image_tile(instructions, family, outer)
    row = row_bytes(tile, inner, 0) - BIAS_BYTES
    strides = window.stride_h * window.stride_w
    split = max(window.stride_h, window.stride_w) > 1
    split = split and window.stride_w <= window.width and window.stride_h <= window.height
    pieces = strides if split else 1
    packed = (window.taps * row + (BIAS_BYTES + extra) * pieces) * round_up(outer, tile.nr)
    if split:
        # The buffer is larger by the product of the strides, but the rest of it is never written.
        height = best_height(tile, data.shape[0])
        across = round_up(-(-window.out_w // window.stride_w), height)
        pointers = window.taps * -(-window.out_h // window.stride_h) * across
    else:
        pixels = window.out_h * window.out_w
        pointers = window.taps * round_up(pixels, best_height(tile, pixels))
    return Cost(
        packed_bytes=round_up(packed, instructions.alignment_bytes),
        indirection_bytes=_POINTER_BYTES * pointers,
        transient_bytes=4 * kernel.elements if kernel.kind == "fp16" else 0,
    )


def _pooling(graph: Graph, node: Node) -> Cost:
    """src/operators/max-pooling-nhwc.c, average-pooling-nhwc.c."""
    given = graph.values[node.inputs[0]]
    if len(given.shape) != 4:
        return Cost()
    window = _window(graph, node, node.numbers.get("filter_height", 1), node.numbers.get("filter_width", 1))
    rows, weights = window.out_h, 0
    if node.type == "average_pooling_2d":
        missing = (window.out_h - 1) * window.stride_h + window.height - given.shape[1]
        padding = max(0, missing) if node.numbers.get("same") else 0
        top = padding // 2
        rows = -(-top // window.stride_h) + -(-(padding - top) // window.stride_h) + 1
        weights = 4 * window.out_h * window.out_w if padding else 0
    return Cost(indirection_bytes=_POINTER_BYTES * (rows * window.steps() + window.taps - 1) + weights)


def _resize(graph: Graph, node: Node) -> Cost:
    """src/operators/resize-bilinear-nhwc.c: four pointers and two weights for each pixel."""
    made = graph.values[node.outputs[0]]
    if len(made.shape) != 4:
        return Cost()
    weights = 8 if made.kind == "fp32" else 4
    return Cost(indirection_bytes=(4 * _POINTER_BYTES + weights) * made.shape[1] * made.shape[2])


def _window(graph: Graph, node: Node, height: int, width: int) -> _Window:
    given, made = graph.values[node.inputs[0]].shape, graph.values[node.outputs[0]].shape
    numbers = node.numbers
    explicit = any(numbers.get(name) for name in ("pad_top", "pad_bottom", "pad_left", "pad_right"))
    return _Window(
        height=height,
        width=width,
        stride_h=numbers.get("stride_h", 1),
        stride_w=numbers.get("stride_w", 1),
        dilation_w=numbers.get("dilation_w_factor", 1),
        out_h=made[1] if len(made) == 4 else 1,
        out_w=made[2] if len(made) == 4 else 1,
        padded=explicit or bool(numbers.get("same") and height * width > 1 and len(given) == 4),
    )


def _indirect(
    graph: Graph,
    node: Node,
    instructions: InstructionSet,
    window: _Window,
    groups: int,
    inner: int,
    outer: int,
    transient: int,
) -> Cost:
    """create_igemm and reshape_igemm in src/operators/convolution-nhwc.c."""
    family, extra = family_of(graph, node)
    tile = image_tile(instructions, family, outer)
    row = row_bytes(tile, inner, 0) - BIAS_BYTES
    packed = (window.taps * row + BIAS_BYTES + extra) * round_up(outer, tile.nr) * groups
    pixels = window.out_h * window.out_w
    height = best_height(tile, pixels)
    pointers = _POINTER_BYTES * window.taps * round_up(pixels, height)
    zeros = EXTRA_BYTES + row if window.padded else 0
    return Cost(
        packed_bytes=round_up(packed, instructions.alignment_bytes),
        indirection_bytes=pointers + zeros,
        transient_bytes=transient,
    )


def _depthwise(
    graph: Graph, node: Node, instructions: InstructionSet, window: _Window, channels: int
) -> tuple[int, int] | None:
    """create_dwconv_path and reshape_dwconv; None if there is no kernel for so many taps."""
    family, extra = family_of(graph, node)
    strided = window.stride_h > 1 or window.stride_w > 1
    if window.taps == 1 and not strided and not window.padded and family == "f32":
        return round_up(8 * round_up(channels, instructions.scale_channels), instructions.alignment_bytes), 0
    kernels = [k for k in instructions.depthwise.get(family, ()) if k[0] >= window.taps]
    if not kernels:
        return None
    taps, tile = min(kernels)
    weight = 4 if family == "f32" else 1
    packed = (taps * weight + BIAS_BYTES + extra) * round_up(channels, tile)
    pointers = _POINTER_BYTES * (window.out_h * window.steps() + taps - window.taps)
    zeros = EXTRA_BYTES + weight * round_up(channels, tile) if window.padded else 0
    unit = instructions.alignment_bytes
    return round_up(packed, unit), round_up(pointers, unit) + zeros
