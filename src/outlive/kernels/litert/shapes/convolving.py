"""Shapes of convolutions, pools and matrix products."""

from __future__ import annotations

import math

from outlive.kernels.litert.shapes.elementwise import broadcast
from outlive.kernels.litert.shapes.outcome import DYNAMIC, Outcome, Outcomes, Rule, View, need, shaped
from outlive.kernels.litert.tensor_table import Shape


def windows(padding: str, size: int, window: int, stride: int, dilation: int = 1) -> int:
    """How many windows fit along one side: ComputeOutSize, tflite/kernels/padding.h."""
    need(size >= 0 and window > 0 and stride > 0 and dilation > 0)
    if padding == "SAME":
        return (size + stride - 1) // stride
    need(padding == "VALID")
    count = (size + stride - ((window - 1) * dilation + 1)) // stride
    need(count >= 0)
    return count


def _sides(view: View, source: Shape, window: tuple[int, int], dilated: bool) -> tuple[int, int]:
    padding = view.text("padding")
    strides = view.number("stride_h", 1), view.number("stride_w", 1)
    spread = (view.number("dilation_h_factor", 1), view.number("dilation_w_factor", 1)) if dilated else (1, 1)
    height, width = (
        windows(padding, source[side + 1], window[side], strides[side], spread[side]) for side in (0, 1)
    )
    return height, width


def conv_2d(view: View) -> Outcomes:
    """Batch, rows, columns, filters: tflite/kernels/conv.cc."""
    source, filters = view.shape(0), view.shape(1)
    need(len(source) == 4 and len(filters) == 4)
    return shaped((source[0], *_sides(view, source, (filters[1], filters[2]), dilated=True), filters[0]))


def depthwise_conv_2d(view: View) -> Outcomes:
    """As a convolution, its channels last in the filter: tflite/kernels/depthwise_conv.cc."""
    source, filters = view.shape(0), view.shape(1)
    need(len(source) == 4 and len(filters) == 4)
    return shaped((source[0], *_sides(view, source, (filters[1], filters[2]), dilated=True), filters[3]))


def pool_2d(view: View) -> Outcomes:
    """Batch, rows, columns, channels: tflite/kernels/pooling.cc."""
    source = view.shape(0)
    need(len(source) == 4)
    window = view.number("filter_height", 1), view.number("filter_width", 1)
    return shaped((source[0], *_sides(view, source, window, dilated=False), source[3]))


def transpose_conv(view: View) -> Outcomes:
    """As its first input says, if that is a constant of the file: tflite/kernels/transpose_conv.cc."""
    return shaped(view.values(0)) if view.constant(0) else DYNAMIC


def fully_connected(view: View) -> Outcomes:
    """Rows by units, or the input's shape with units last: tflite/kernels/fully_connected.cc."""
    source, weights = view.shape(0), view.shape(1)
    need(len(weights) == 2)
    units, depth = weights
    if view.number("keep_num_dims"):
        need(bool(source))
        return shaped((*source[:-1], units))
    elements = math.prod(source)
    need(depth > 0 and elements % depth == 0)
    return shaped((elements // depth, units))


def batch_matmul(view: View) -> Outcomes:
    """Batches stretched, rows of the left, columns of the right: tflite/kernels/batch_matmul.cc."""
    left, right = view.shape(0), view.shape(1)
    rank = max(len(left), len(right))
    need(min(len(left), len(right)) >= 2)
    left, right = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    rows = left[-1] if view.number("adj_x") else left[-2]
    columns = right[-2] if view.number("adj_y") else right[-1]
    return shaped((*broadcast(left[:-2], right[:-2]), rows, columns))


def conv_3d(view: View) -> Outcomes:
    """Batch, depth, rows, columns, filters: tflite/kernels/conv3d.cc."""
    source, filters = view.shape(0), view.shape(1)
    need(len(source) == 5 and len(filters) == 5)
    sides = (
        windows(
            view.text("padding"),
            source[side + 1],
            filters[side],
            view.number(f"stride_{letter}", 1),
            view.number(f"dilation_{letter}_factor", 1),
        )
        for side, letter in enumerate("dhw")
    )
    return shaped((source[0], *sides, filters[4]))


def conv_3d_transpose(view: View) -> Outcomes:
    """As its first input says, if that is known: tflite/kernels/conv3d_transpose.cc."""
    return shaped(view.values(0)) if view.known(0) else DYNAMIC


def embedding_lookup(view: View) -> Outcomes:
    """A row of the table for each key: tflite/kernels/embedding_lookup.cc."""
    return shaped((view.shape(0)[0], *view.shape(1)[1:]))


def rfft_2d(view: View) -> Outcomes:
    """Half the columns and one: tflite/kernels/rfft2d.cc."""
    if not view.known(1):
        return DYNAMIC
    rows, columns = view.values(1)
    return (Outcome(shape=(*view.shape(0)[:-2], rows, columns // 2 + 1)),)


RULES: dict[str, Rule] = {
    "CONV_2D": conv_2d,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "AVERAGE_POOL_2D": pool_2d,
    "MAX_POOL_2D": pool_2d,
    "L2_POOL_2D": pool_2d,
    "TRANSPOSE_CONV": transpose_conv,
    "FULLY_CONNECTED": fully_connected,
    "BATCH_MATMUL": batch_matmul,
    "CONV_3D": conv_3d,
    "CONV_3D_TRANSPOSE": conv_3d_transpose,
    "EMBEDDING_LOOKUP": embedding_lookup,
    "RFFT2D": rfft_2d,
}
