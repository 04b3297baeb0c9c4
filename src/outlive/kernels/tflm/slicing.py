"""Kernels that take parts or other grids of a tensor: slices, splits, blocks, resizing, gathering.

Sources: slice.cc, strided_slice_common.cc, split.cc, space_to_depth.cc, depth_to_space.cc, l2_pool_2d.cc,
resize_bilinear.cc, gather.cc, gather_nd.cc, embedding_lookup.cc and others of tensorflow/lite/micro/kernels.
"""

import math

from outlive.kernels.tflm.checks import SMALL_RANK, as_int32
from outlive.kernels.tflm.context import TYPE_BYTES, MicroContext, MicroKernel, MicroTensor


def slice_(k: MicroContext) -> None:
    """SLICE."""
    k.counts(3)
    input, begin, size, output = k.input(0), k.input(1), k.input(2), k.output()
    k.same_type(input, output)
    k.same_type(begin, size, "begin and size")
    k.one_of(begin, "begin", "int32", "int64")
    right = begin.rank == size.rank == 1 and begin.elements == size.elements
    k.require(right, "its begin and size are not two lists of one length")
    k.require(input.rank <= 5, "its input has more than 5 dimensions")


def strided_slice(k: MicroContext) -> None:
    """STRIDED_SLICE."""
    k.counts(4)
    input, begin, end, strides = k.input(0), k.input(1), k.input(2), k.input(3)
    output = k.output()
    k.require(input.rank <= 4, "its input has more than 4 dimensions")
    for tensor, role in ((begin, "begin"), (end, "end"), (strides, "strides")):
        k.require(tensor.constant, f"its {role} is not a constant")
    first, last, step = (as_int32(tensor, input.rank) for tensor in (begin, end, strides))
    k.require(min(len(first), len(last), len(step)) >= input.rank, "its begin, end or strides are too short")
    begin_mask, end_mask, shrink = (k.number(f"{name}_mask") for name in ("begin", "end", "shrink_axis"))
    found = []
    for axis, size in enumerate(input.dims):
        k.require(step[axis] != 0, "a stride is 0")
        start = _start(first[axis], size, step[axis], bool(begin_mask >> axis & 1))
        stop = _stop(last[axis], size, step[axis], bool(end_mask >> axis & 1))
        if not shrink >> axis & 1:
            found.append(max(math.ceil((stop - start) / step[axis]), 0))
    dims = tuple(found)
    k.require(output.dims == dims, f"its output is {output.dims}, not {dims}")


def _start(value: int, size: int, stride: int, masked: bool) -> int:
    # StartForAxis: kernels/internal/strided_slice_logic.h
    if masked:
        value = 0 if stride > 0 else size - 1
    elif value < 0:
        value += size
    return min(max(value, 0), size) if stride > 0 else min(max(value, -1), size - 1)


def _stop(value: int, size: int, stride: int, masked: bool) -> int:
    # StopForAxis: kernels/internal/strided_slice_logic.h
    if masked:
        return size if stride > 0 else -1
    if value < 0:
        value += size
    return min(max(value, 0), size) if stride > 0 else min(max(value, -1), size - 1)


def split(k: MicroContext) -> None:
    """SPLIT: only its axis is looked at."""
    k.require(k.input(0).constant, "its axis is not a constant")


def split_v(k: MicroContext) -> None:
    """SPLIT_V: only its axis is looked at."""
    k.counts(3, None)
    k.require(k.input(2).constant, "its axis is not a constant")


def resize_bilinear(k: MicroContext) -> None:
    """RESIZE_BILINEAR."""
    _resize(k)
    both = k.number("half_pixel_centers") and k.number("align_corners")
    k.require(not both, "half_pixel_centers and align_corners are both set")


def resize_nearest(k: MicroContext) -> None:
    """RESIZE_NEAREST_NEIGHBOR."""
    size = _resize(k)
    k.require(size.dims[0] == 2, "its size is not two numbers")


def _resize(k: MicroContext) -> MicroTensor:
    k.counts(2)
    input, size = k.input(0), k.input(1)
    k.output()
    k.require(input.rank == 4, "its input has not 4 dimensions")
    k.require(size.rank == 1, "its size is not a list")
    k.one_of(size, "size", "int32")
    k.require(size.constant, "its size is not a constant")
    return size


def reverse(k: MicroContext) -> None:
    """REVERSE_V2."""
    k.counts(2)
    input, axis, output = k.input(0), k.input(1), k.output()
    k.require(axis.rank == 1, "its axis is not a list")
    k.require(axis.elements <= input.rank <= SMALL_RANK, "its axes do not fit its input")
    k.one_of(input, "input", "int32", "float32", "uint8", "int8", "int16", "int64", "bool")
    k.one_of(axis, "axis", "int32")
    k.same_type(input, output)


def dynamic_update_slice(k: MicroContext) -> None:
    """DYNAMIC_UPDATE_SLICE."""
    k.counts(3)
    operand, update, start = k.input(0), k.input(1), k.input(2)
    k.output()
    k.same_type(operand, update, "operand and update")
    k.one_of(start, "start", "int32", "int64")
    k.require(start.rank == 1 and start.dims[0] == operand.rank, "its start does not fit its operand")
    k.require(update.rank == operand.rank, "its update has another rank than its operand")
    inside = all(part <= size for part, size in zip(update.dims, operand.dims, strict=True))
    k.require(inside, "its update is larger than its operand")


def gather(k: MicroContext) -> None:
    """GATHER: int32 positions; the output's dims move to the tail."""
    k.counts(2)
    input, coords, output = k.input(0), k.input(1), k.output()
    k.one_of(coords, "positions", "int32")
    k.one_of(input, "input", "float32", "int8")
    axis, batch = k.number("axis"), k.number("batch_dims")
    axis = axis + input.rank if axis < 0 else axis
    batch = batch + coords.rank if batch < 0 else batch
    k.require(0 <= axis < input.rank, "its axis is out of bounds")
    k.require(0 <= batch <= axis and batch <= coords.rank, "its batch dimensions are out of bounds")
    k.require(input.dims[:batch] == coords.dims[:batch], "input and positions differ in the batch")
    k.rewrite_dims(output, (*input.dims[:axis], *coords.dims[batch:], *input.dims[axis + 1 :]))


def gather_nd(k: MicroContext) -> None:
    """GATHER_ND: int32 indices; the output's dims move to the tail."""
    k.counts(2)
    params, indices, output = k.input(0), k.input(1), k.output()
    k.one_of(params, "params", "float32", "int8")
    k.one_of(indices, "indices", "int32")
    k.require(params.rank >= 1 and indices.rank >= 1, "params or indices are a scalar")
    depth = indices.dims[-1]
    k.require(
        depth <= min(params.rank, 5), f"an index has {depth} numbers, more than its params have dimensions"
    )
    k.rewrite_dims(output, (*indices.dims[:-1], *params.dims[max(depth, 0) :]))


def embedding_lookup(k: MicroContext) -> None:
    """EMBEDDING_LOOKUP: the output's dims, then its op data, go to the tail."""
    k.counts(2)
    lookup = k.input(0)
    k.require(lookup.rank == 1, "its lookup is not a list")
    k.one_of(lookup, "lookup", "int32")
    value = k.input(1)
    k.require(value.rank >= 2, "its values have fewer than 2 dimensions")
    k.one_of(value, "values", "float32", "int8")
    output = k.output()
    k.one_of(output, "output", *(("float32",) if value.type == "float32" else ("float32", "int8")))
    k.require(output.rank >= value.rank, "its output has fewer dimensions than its values")
    dims = (lookup.dims[0], *value.dims[1:], *output.dims[value.rank :])
    k.rewrite_dims(output, dims)
    fits = output.elements * TYPE_BYTES[output.type] <= output.file_bytes
    k.require(fits, "its output is larger than the file says")
    k.keep_struct("OpDataEmbeddingLookup")
    if value.type == "int8" and output.type == "float32":
        k.require(value.zero_point == 0, "its values have a zero point other than 0")


KERNELS = {
    "DYNAMIC_UPDATE_SLICE": MicroKernel(dynamic_update_slice),
    "EMBEDDING_LOOKUP": MicroKernel(embedding_lookup),
    "GATHER": MicroKernel(gather),
    "GATHER_ND": MicroKernel(gather_nd),
    "RESIZE_BILINEAR": MicroKernel(resize_bilinear),
    "RESIZE_NEAREST_NEIGHBOR": MicroKernel(resize_nearest),
    "REVERSE_V2": MicroKernel(reverse),
    "SLICE": MicroKernel(slice_),
    "SPLIT": MicroKernel(split),
    "SPLIT_V": MicroKernel(split_v),
    "STRIDED_SLICE": MicroKernel(strided_slice),
}
