"""What XNNPACK allocates for a node: packed weights, pointers to pixels, scratch space while it runs."""

from __future__ import annotations

from outlive.kernels.xnnpack import image_memory as imaging
from outlive.kernels.xnnpack.graph import Graph, Node
from outlive.kernels.xnnpack.instruction_sets import GemmTile, InstructionSet
from outlive.kernels.xnnpack.microkernels import (
    EXTRA_BYTES,
    Cost,
    better_for_few,
    family_of,
    round_up,
    row_bytes,
    tile_of,
)

# Of the level 2 data cache, which decides whether an input is quantized whole or a few rows at a time.
_CACHE_BYTES = 512 * 1024


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
            return imaging.convolution(graph, node, instructions)
        case "deconvolution_2d":
            return imaging.deconvolution(graph, node, instructions)
        case "average_pooling_2d" | "max_pooling_2d" | "argmax_pooling_2d" | "unpooling_2d":
            return imaging.pooling(graph, node)
        case "static_resize_bilinear_2d":
            return imaging.resize(graph, node)
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
