"""Operators that rearrange, join and stretch: RESHAPE, TRANSPOSE, PACK, CONCATENATION, PAD, TILE."""

import math

from outlive.kernels.litert.kernel import (
    Home,
    LiteRTKernel,
    PreparedOutputs,
    dynamic_unless_constant,
    dynamic_unless_known,
    folded,
    shape_from,
    shaped,
)
from outlive.kernels.litert.tensor_table import PreparedOutput
from outlive.kernels.litert.view import PrepareView, axis_of, require
from outlive.kernels.view import Shape
from outlive.units import DTYPE_BITS


def _reshape(view: PrepareView) -> PreparedOutputs:
    """As its second input or its option says, if that is known: tflite/kernels/reshape.cc."""
    if view.output_dtype(0) == "string":
        return (PreparedOutput(),)
    if len(view.operator.inputs) > 1 and not view.known(1):
        size = view.table.bytes[view.index(0)]
        return (PreparedOutput(size_bytes=size, undecided=True),)
    wanted = _reshaped(view)
    if not view.known(0):
        return shaped(wanted)
    return (PreparedOutput(shape=wanted, values=view.readable(0)),)


def _reshaped(view: PrepareView) -> Shape:
    if len(view.operator.inputs) > 1 and len(view.shape(1)) == 1 and view.dtype(1) == "int32":
        wanted = view.values(1)
    else:
        wanted = view.numbers("new_shape")
        wanted = () if wanted == (0,) else wanted
    elements = math.prod(view.shape(0))
    if -1 in wanted:
        rest = math.prod(size for size in wanted if size != -1)
        require(wanted.count(-1) == 1 and rest > 0 and elements % rest == 0)
        wanted = tuple(elements // rest if size == -1 else size for size in wanted)
    require(math.prod(wanted) == elements)
    return wanted


def _squeeze(view: PrepareView) -> PreparedOutputs:
    """Without the sides of one: tflite/kernels/squeeze.cc."""
    source = view.shape(0)
    gone = {axis_of(axis, len(source)) for axis in view.numbers("squeeze_dims")}
    gone = gone or {axis for axis, size in enumerate(source) if size == 1}
    return shaped(tuple(size for axis, size in enumerate(source) if axis not in gone))


def _expand_dims(view: PrepareView) -> PreparedOutputs:
    """With one more side of one: tflite/kernels/expand_dims.cc."""
    source = view.shape(0)
    axis = axis_of(view.values(1)[0], len(source) + 1)
    return shaped((*source[:axis], 1, *source[axis:]))


def _transpose(view: PrepareView) -> PreparedOutputs:
    """The sides in another order: tflite/kernels/transpose.cc."""
    source, order = view.shape(0), view.values(1)
    require(len(order) == len(source))
    return shaped(tuple(source[axis_of(axis, len(source))] for axis in order))


def _pack(view: PrepareView) -> PreparedOutputs:
    """One more side: tflite/kernels/pack.cc."""
    source = view.shape(0)
    axis = axis_of(view.number("axis"), len(source) + 1)
    count = view.number("values_count", len(view.operator.inputs))
    return shaped((*source[:axis], count, *source[axis:]))


def _unpack(view: PrepareView) -> PreparedOutputs:
    """One side less, for each output: tflite/kernels/unpack.cc."""
    source = view.shape(0)
    axis = axis_of(view.number("axis"), len(source))
    return shaped((*source[:axis], *source[axis + 1 :]))


def _concatenation(view: PrepareView) -> PreparedOutputs:
    """One side summed; computed at Prepare if all inputs are known: tflite/kernels/concatenation.cc."""
    inputs = range(len(view.operator.inputs))
    first = view.shape(0)
    known = view.all_known
    if known and not first:
        shape: Shape = (len(inputs),)
    else:
        axis = axis_of(view.number("axis"), len(first))
        total = sum(view.shape(position)[axis] for position in inputs)
        shape = (*first[:axis], total, *first[axis + 1 :])
    if not known:
        return shaped(shape)
    parts = [view.readable(position) for position in inputs]
    joined = None
    if len(shape) == 1 and None not in parts:
        joined = tuple(value for part in parts if part is not None for value in part)
    return (PreparedOutput(shape=shape, values=joined),)


def _split(view: PrepareView) -> PreparedOutputs:
    """One side in equal parts: tflite/kernels/split.cc."""
    source = view.shape(1)
    axis = axis_of(view.values(0)[0], len(source))
    count = view.number("num_splits", 1)
    require(count > 0 and source[axis] % count == 0)
    return shaped((*source[:axis], source[axis] // count, *source[axis + 1 :]))


def _split_v(view: PrepareView) -> PreparedOutputs:
    """One side in parts of given sizes, one of which may be the rest: tflite/kernels/split_v.cc."""
    source, sizes = view.shape(0), view.values(1)
    axis = axis_of(view.values(2)[0], len(source))
    rest = source[axis] - sum(size for size in sizes if size != -1)
    require(rest >= 0 and len(sizes) == len(view.operator.outputs) and sizes.count(-1) <= 1)
    parts = (rest if size == -1 else size for size in sizes)
    return shaped(*((*source[:axis], part, *source[axis + 1 :]) for part in parts))


def _pad(view: PrepareView) -> PreparedOutputs:
    """More on both ends of each side: tflite/kernels/pad.cc and mirror_pad.cc."""
    source = view.shape(0)
    ends = view.values(1)
    require(len(ends) == 2 * len(source))
    return shaped(tuple(size + ends[2 * axis] + ends[2 * axis + 1] for axis, size in enumerate(source)))


def _dilate(view: PrepareView) -> PreparedOutputs:
    """Gaps between the elements of each side: tflite/kernels/dilate.cc."""
    source, steps = view.shape(0), view.values(1)
    require(bool(source) and len(steps) == len(source))
    return shaped(tuple((size - 1) * step + 1 for size, step in zip(source, steps, strict=True)))


def _bitcast(view: PrepareView) -> PreparedOutputs:
    """One side more or less where the elements' sizes differ: tflite/kernels/bitcast.cc."""
    source = view.shape(0)
    before, after = (DTYPE_BITS.get(dtype, 0) for dtype in (view.dtype(0), view.output_dtype(0)))
    require(before >= 8 and after >= 8)
    if before > after:
        return shaped((*source, before // after))
    return shaped(source[:-1] if before < after else source)


def _tile(view: PrepareView) -> PreparedOutputs:
    """Each side so many times; computed at Prepare if both inputs are known: tflite/kernels/tile.cc."""
    source, times = view.shape(0), view.values(1)
    require(len(times) == len(source))
    shape = tuple(size * count for size, count in zip(source, times, strict=True))
    if not view.known(0):
        return shaped(shape)
    values = view.readable(0)
    repeated = None
    if values is not None and len(shape) == 1 and shape[0] <= 1024:
        repeated = values * times[0]
    return (PreparedOutput(shape=shape, values=repeated),)


def _matrix_diagonal(view: PrepareView) -> PreparedOutputs:
    """The last side twice: tflite/kernels/matrix_diag.cc."""
    source = view.shape(0)
    require(bool(source))
    return shaped((*source, source[-1]))


def _depth_to_space(view: PrepareView) -> PreparedOutputs:
    """Channels become rows and columns: tflite/kernels/depth_to_space.cc."""
    batch, rows, columns, depth = view.shape(0)
    block = view.number("block_size", 1)
    require(block > 0)
    return shaped((batch, rows * block, columns * block, depth // (block * block)))


def _space_to_depth(view: PrepareView) -> PreparedOutputs:
    """Rows and columns become channels: tflite/kernels/space_to_depth.cc."""
    batch, rows, columns, depth = view.shape(0)
    block = view.number("block_size", 1)
    require(block > 0)
    return shaped((batch, rows // block, columns // block, depth * block * block))


def _space_to_batch(view: PrepareView) -> PreparedOutputs:
    """Blocks of rows and columns become batches: tflite/kernels/space_to_batch_nd.cc."""
    source, blocks, ends = view.shape(0), view.values(1), view.values(2)
    require(len(source) == len(blocks) + 2 and len(ends) == 2 * len(blocks))
    sides = []
    for axis, block in enumerate(blocks):
        size = source[axis + 1] + ends[2 * axis] + ends[2 * axis + 1]
        require(block > 0 and size % block == 0)
        sides.append(size // block)
    return shaped((source[0] * math.prod(blocks), *sides, source[-1]))


def _batch_to_space(view: PrepareView) -> PreparedOutputs:
    """The reverse: tflite/kernels/batch_to_space_nd.cc."""
    source, blocks, ends = view.shape(0), view.values(1), view.values(2)
    require(len(source) == len(blocks) + 2 and len(ends) == 2 * len(blocks) and math.prod(blocks) > 0)
    sides = (
        source[axis + 1] * block - ends[2 * axis] - ends[2 * axis + 1] for axis, block in enumerate(blocks)
    )
    return shaped((source[0] // math.prod(blocks), *sides, source[-1]))


def _resize_image(view: PrepareView) -> PreparedOutputs:
    """Rows and columns as its second input says: tflite/kernels/resize_bilinear.cc."""
    batch, _, _, depth = view.shape(0)
    rows, columns = view.values(1)
    return shaped((batch, rows, columns, depth))


def _reshape_home(view: PrepareView) -> Home:
    if len(view.operator.inputs) > 1 and not view.known(1):
        return None
    return "readonly" if view.known(0) else None


def _pad_home(view: PrepareView) -> Home:
    return None if view.known(1) and view.shape(0) else "dynamic"


def _tile_home(view: PrepareView) -> Home:
    if not view.known(1):
        return "dynamic"
    return "readonly" if view.known(0) else None


_PAD = LiteRTKernel(shapes=_pad, home=_pad_home)
_RESIZE = LiteRTKernel(shapes=_resize_image, home=dynamic_unless_known(1), typed_by=0)

KERNELS = {
    "RESHAPE": LiteRTKernel(shapes=_reshape, home=_reshape_home, in_place=(0,), unchanged=True),
    "SQUEEZE": LiteRTKernel(shapes=_squeeze, in_place=(0,), unchanged=True),
    "EXPAND_DIMS": LiteRTKernel(
        shapes=_expand_dims, home=dynamic_unless_known(1), typed_by=0, in_place=(0,), unchanged=True
    ),
    "BITCAST": LiteRTKernel(shapes=_bitcast, in_place=(0,), unchanged=True),
    "TRANSPOSE": LiteRTKernel(shapes=_transpose, home=dynamic_unless_known(1)),
    "PACK": LiteRTKernel(shapes=_pack),
    "UNPACK": LiteRTKernel(shapes=_unpack),
    "CONCATENATION": LiteRTKernel(shapes=_concatenation, home=folded),
    "SPLIT": LiteRTKernel(shapes=_split, home=dynamic_unless_known(0)),
    "SPLIT_V": LiteRTKernel(shapes=_split_v, home=dynamic_unless_known(1, 2)),
    "PAD": _PAD,
    "PADV2": _PAD,
    "MIRROR_PAD": LiteRTKernel(shapes=_pad, home=dynamic_unless_known(1)),
    "DILATE": LiteRTKernel(shapes=_dilate, home=dynamic_unless_constant(1)),
    "TILE": LiteRTKernel(shapes=_tile, home=_tile_home),
    # As its second input says: tflite/kernels/broadcast_to.cc.
    "BROADCAST_TO": LiteRTKernel(shapes=shape_from(1), home=dynamic_unless_known(1)),
    "MATRIX_DIAG": LiteRTKernel(shapes=_matrix_diagonal, typed_by=0),
    "DEPTH_TO_SPACE": LiteRTKernel(shapes=_depth_to_space),
    "SPACE_TO_DEPTH": LiteRTKernel(shapes=_space_to_depth),
    "SPACE_TO_BATCH_ND": LiteRTKernel(shapes=_space_to_batch, home=dynamic_unless_known(1, 2)),
    "BATCH_TO_SPACE_ND": LiteRTKernel(shapes=_batch_to_space, home=dynamic_unless_known(1, 2)),
    "RESIZE_BILINEAR": _RESIZE,
    "RESIZE_NEAREST_NEIGHBOR": _RESIZE,
}
