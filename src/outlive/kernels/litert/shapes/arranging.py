"""Shapes of operators that rearrange, join and cut: reshape, transpose, pack, split, pad, tile."""

from __future__ import annotations

import math

from outlive.kernels.litert.shapes.outcome import (
    DYNAMIC,
    Outcome,
    Outcomes,
    Rule,
    View,
    axis_of,
    need,
    shaped,
)
from outlive.kernels.litert.tensor_table import Shape
from outlive.units import DTYPE_BITS


def reshape(view: View) -> Outcomes:
    """As its second input or its option says, if that is known: tflite/kernels/reshape.cc."""
    if view.output_dtype(0) == "string":
        return (Outcome(),)
    if len(view.operator.inputs) > 1 and not view.known(1):
        size = view.table.bytes[view.index(0)]
        return (Outcome(size_bytes=size, undecided=True),)
    wanted = _reshaped(view)
    if not view.known(0):
        return shaped(wanted)
    return (Outcome(shape=wanted, where="readonly", values=view.table.values(view.index(0))),)


def _reshaped(view: View) -> Shape:
    if len(view.operator.inputs) > 1 and len(view.shape(1)) == 1 and view.dtype(1) == "int32":
        wanted = view.values(1)
    else:
        wanted = view.numbers("new_shape")
        wanted = () if wanted == (0,) else wanted
    elements = math.prod(view.shape(0))
    if -1 in wanted:
        rest = math.prod(size for size in wanted if size != -1)
        need(wanted.count(-1) == 1 and rest > 0 and elements % rest == 0)
        wanted = tuple(elements // rest if size == -1 else size for size in wanted)
    need(math.prod(wanted) == elements)
    return wanted


def squeeze(view: View) -> Outcomes:
    """Without the sides of one: tflite/kernels/squeeze.cc."""
    source = view.shape(0)
    gone = {axis_of(axis, len(source)) for axis in view.numbers("squeeze_dims")}
    gone = gone or {axis for axis, size in enumerate(source) if size == 1}
    return shaped(tuple(size for axis, size in enumerate(source) if axis not in gone))


def expand_dims(view: View) -> Outcomes:
    """With one more side of one: tflite/kernels/expand_dims.cc."""
    if not view.known(1):
        return DYNAMIC
    source = view.shape(0)
    axis = axis_of(view.values(1)[0], len(source) + 1)
    return shaped((*source[:axis], 1, *source[axis:]))


def transpose(view: View) -> Outcomes:
    """The sides in another order: tflite/kernels/transpose.cc."""
    if not view.known(1):
        return DYNAMIC
    source, order = view.shape(0), view.values(1)
    need(len(order) == len(source))
    return shaped(tuple(source[axis_of(axis, len(source))] for axis in order))


def pack(view: View) -> Outcomes:
    """One more side: tflite/kernels/pack.cc."""
    source = view.shape(0)
    axis = axis_of(view.number("axis"), len(source) + 1)
    count = view.number("values_count", len(view.operator.inputs))
    return shaped((*source[:axis], count, *source[axis:]))


def unpack(view: View) -> Outcomes:
    """One side less, for each output: tflite/kernels/unpack.cc."""
    source = view.shape(0)
    axis = axis_of(view.number("axis"), len(source))
    return shaped((*source[:axis], *source[axis + 1 :]))


def concatenation(view: View) -> Outcomes:
    """One side summed; computed at Prepare if all inputs are known: tflite/kernels/concatenation.cc."""
    inputs = range(len(view.operator.inputs))
    first = view.shape(0)
    known = all(view.known(position) for position in inputs)
    if known and not first:
        shape: Shape = (len(inputs),)
    else:
        axis = axis_of(view.number("axis"), len(first))
        total = sum(view.shape(position)[axis] for position in inputs)
        shape = (*first[:axis], total, *first[axis + 1 :])
    if not known:
        return shaped(shape)
    parts = [view.table.values(view.index(position)) for position in inputs]
    joined = None
    if len(shape) == 1 and None not in parts:
        joined = tuple(value for part in parts if part is not None for value in part)
    return (Outcome(shape=shape, where="readonly", values=joined),)


def split(view: View) -> Outcomes:
    """One side in equal parts: tflite/kernels/split.cc."""
    if not view.known(0):
        return DYNAMIC
    source = view.shape(1)
    axis = axis_of(view.values(0)[0], len(source))
    count = view.number("num_splits", 1)
    need(count > 0 and source[axis] % count == 0)
    return shaped((*source[:axis], source[axis] // count, *source[axis + 1 :]))


def split_v(view: View) -> Outcomes:
    """One side in parts of given sizes, one of which may be the rest: tflite/kernels/split_v.cc."""
    if not (view.known(1) and view.known(2)):
        return DYNAMIC
    source, sizes = view.shape(0), view.values(1)
    axis = axis_of(view.values(2)[0], len(source))
    rest = source[axis] - sum(size for size in sizes if size != -1)
    need(rest >= 0 and len(sizes) == len(view.operator.outputs) and sizes.count(-1) <= 1)
    parts = (rest if size == -1 else size for size in sizes)
    return shaped(*((*source[:axis], part, *source[axis + 1 :]) for part in parts))


def pad(view: View) -> Outcomes:
    """More on both ends of each side: tflite/kernels/pad.cc and mirror_pad.cc."""
    source = view.shape(0)
    if not view.known(1) or not (source or view.operator.type == "MIRROR_PAD"):
        return DYNAMIC
    ends = view.values(1)
    need(len(ends) == 2 * len(source))
    return shaped(tuple(size + ends[2 * axis] + ends[2 * axis + 1] for axis, size in enumerate(source)))


def dilate(view: View) -> Outcomes:
    """Gaps between the elements of each side: tflite/kernels/dilate.cc."""
    if not view.constant(1):
        return DYNAMIC
    source, steps = view.shape(0), view.values(1)
    need(bool(source) and len(steps) == len(source))
    return shaped(tuple((size - 1) * step + 1 for size, step in zip(source, steps, strict=True)))


def bitcast(view: View) -> Outcomes:
    """One side more or less where the elements' sizes differ: tflite/kernels/bitcast.cc."""
    source = view.shape(0)
    before, after = (DTYPE_BITS.get(dtype, 0) for dtype in (view.dtype(0), view.output_dtype(0)))
    need(before >= 8 and after >= 8)
    if before > after:
        return shaped((*source, before // after))
    return shaped(source[:-1] if before < after else source)


def tile(view: View) -> Outcomes:
    """Each side so many times; computed at Prepare if both inputs are known: tflite/kernels/tile.cc."""
    if not view.known(1):
        return DYNAMIC
    source, times = view.shape(0), view.values(1)
    need(len(times) == len(source))
    shape = tuple(size * count for size, count in zip(source, times, strict=True))
    if not view.known(0):
        return shaped(shape)
    values = view.table.values(view.index(0))
    repeated = None
    if values is not None and len(shape) == 1 and shape[0] <= 1024:
        repeated = values * times[0]
    return (Outcome(shape=shape, where="readonly", values=repeated),)


def matrix_diagonal(view: View) -> Outcomes:
    """The last side twice: tflite/kernels/matrix_diag.cc."""
    source = view.shape(0)
    need(bool(source))
    return shaped((*source, source[-1]))


def broadcast_to(view: View) -> Outcomes:
    """As its second input says: tflite/kernels/broadcast_to.cc."""
    return shaped(view.values(1)) if view.known(1) else DYNAMIC


def depth_to_space(view: View) -> Outcomes:
    """Channels become rows and columns: tflite/kernels/depth_to_space.cc."""
    batch, rows, columns, depth = view.shape(0)
    block = view.number("block_size", 1)
    need(block > 0)
    return shaped((batch, rows * block, columns * block, depth // (block * block)))


def space_to_depth(view: View) -> Outcomes:
    """Rows and columns become channels: tflite/kernels/space_to_depth.cc."""
    batch, rows, columns, depth = view.shape(0)
    block = view.number("block_size", 1)
    need(block > 0)
    return shaped((batch, rows // block, columns // block, depth * block * block))


def space_to_batch(view: View) -> Outcomes:
    """Blocks of rows and columns become batches: tflite/kernels/space_to_batch_nd.cc."""
    if not (view.known(1) and view.known(2)):
        return DYNAMIC
    source, blocks, ends = view.shape(0), view.values(1), view.values(2)
    need(len(source) == len(blocks) + 2 and len(ends) == 2 * len(blocks))
    sides = []
    for axis, block in enumerate(blocks):
        size = source[axis + 1] + ends[2 * axis] + ends[2 * axis + 1]
        need(block > 0 and size % block == 0)
        sides.append(size // block)
    return shaped((source[0] * math.prod(blocks), *sides, source[-1]))


def batch_to_space(view: View) -> Outcomes:
    """The reverse: tflite/kernels/batch_to_space_nd.cc."""
    if not (view.known(1) and view.known(2)):
        return DYNAMIC
    source, blocks, ends = view.shape(0), view.values(1), view.values(2)
    need(len(source) == len(blocks) + 2 and len(ends) == 2 * len(blocks) and math.prod(blocks) > 0)
    sides = (
        source[axis + 1] * block - ends[2 * axis] - ends[2 * axis + 1] for axis, block in enumerate(blocks)
    )
    return shaped((source[0] // math.prod(blocks), *sides, source[-1]))


def resize_image(view: View) -> Outcomes:
    """Rows and columns as its second input says: tflite/kernels/resize_bilinear.cc."""
    if not view.known(1):
        return DYNAMIC
    batch, _, _, depth = view.shape(0)
    rows, columns = view.values(1)
    return shaped((batch, rows, columns, depth))


RULES: dict[str, Rule] = {
    "RESHAPE": reshape,
    "SQUEEZE": squeeze,
    "EXPAND_DIMS": expand_dims,
    "TRANSPOSE": transpose,
    "PACK": pack,
    "UNPACK": unpack,
    "CONCATENATION": concatenation,
    "SPLIT": split,
    "SPLIT_V": split_v,
    "PAD": pad,
    "PADV2": pad,
    "MIRROR_PAD": pad,
    "DILATE": dilate,
    "BITCAST": bitcast,
    "TILE": tile,
    "BROADCAST_TO": broadcast_to,
    "MATRIX_DIAG": matrix_diagonal,
    "DEPTH_TO_SPACE": depth_to_space,
    "SPACE_TO_DEPTH": space_to_depth,
    "SPACE_TO_BATCH_ND": space_to_batch,
    "BATCH_TO_SPACE_ND": batch_to_space,
    "RESIZE_BILINEAR": resize_image,
    "RESIZE_NEAREST_NEIGHBOR": resize_image,
}
