"""What XNNPACK allocates for a node: packed weights, pointers to pixels, scratch space while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from outlive.kernels.xnnpack.graph import Graph, Node
from outlive.kernels.xnnpack.microkernels import (
    BIAS_BYTES,
    EXTRA_BYTES,
    Cost,
    GemmTile,
    InstructionSet,
    best_height,
    better_for_few,
    family_of,
    image_tile,
    round_up,
    row_bytes,
    tile_of,
)

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
