"""Kernels that move elements about: RESHAPE, TRANSPOSE, CONCATENATION, PAD, FILL and their kin.

Sources: reshape_common.cc, transpose_common.cc, squeeze.cc, expand_dims.cc, concatenation.cc, pad_common.cc,
fill.cc, broadcast_to.cc and others of tensorflow/lite/micro/kernels.
"""

from outlive.kernels.tflm.checks import SMALL_RANK, as_int32, zero_points
from outlive.kernels.tflm.context import MicroContext, MicroKernel, MicroTensor, count


def reshape(k: MicroContext) -> None:
    """RESHAPE: its dims move to the tail only where the output's shape holds a -1."""
    k.counts((1, 2))
    input, output = k.input(0), k.output()
    if len(k.operator.inputs) == 1 and output.dims == (0,):
        output.dims = ()  # a scalar in the way of old files
    dims = list(output.dims)
    k.require(dims.count(-1) <= 1, "its output has more than one open dimension")
    if -1 in dims:
        rest = count([size for size in dims if size != -1])
        k.require(rest != 0, "its output shape cannot be completed")
        dims[dims.index(-1)] = int(input.elements / rest) if rest else 0
        k.rewrite_dims(output, dims)
    k.same_type(input, output)
    k.require(input.elements == output.elements, f"{input.elements} elements in, {output.elements} out")


def transpose(k: MicroContext) -> None:
    """TRANSPOSE."""
    k.counts(2)
    input, perm, output = k.input(0), k.input(1), k.output()
    k.require(input.rank <= 5, "its input has more than 5 dimensions")
    k.same_type(input, output)
    order = k.constant(perm, "the permutation")
    k.require(perm.rank == 1 and perm.dims[0] == input.rank, "its permutation does not fit its input")
    k.require(all(0 <= axis < input.rank for axis in order), "its permutation is out of bounds")


def squeeze(k: MicroContext) -> None:
    """SQUEEZE."""
    k.counts(1)
    input, output = k.input(0), k.output()
    k.require(input.rank <= 8, "its input has more than 8 dimensions")
    asked = k.option("squeeze_dims")
    axes = [axis for axis in asked if isinstance(axis, int)] if isinstance(asked, tuple) else []
    if axes:
        gone = {axis + input.rank if axis < 0 else axis for axis in axes}
        right = all(0 <= axis < input.rank and input.dims[axis] == 1 for axis in gone)
        k.require(right, "it squeezes a dimension that is not 1")
    else:
        gone = {axis for axis, size in enumerate(input.dims) if size == 1}
    kept = [size for axis, size in enumerate(input.dims) if axis not in gone]
    held = all(wide >= size for wide, size in zip(output.dims, kept, strict=False))
    k.require(held and len(kept) <= output.rank, "its output is smaller than its input")


def expand_dims(k: MicroContext) -> None:
    """EXPAND_DIMS."""
    k.counts(2)
    input, axis, output = k.input(0), k.input(1), k.output()
    values = k.constant(axis, "the axis")
    k.require(axis.rank <= 1, "its axis is not one number")
    k.one_of(axis, "axis", "int32")
    place = values[0] if values else 0
    place = place + input.rank + 1 if place < 0 else place
    k.require(place <= input.rank, "its axis is out of bounds")
    wanted = (*input.dims[:place], 1, *input.dims[place:]) if place >= 0 else None
    k.require(output.dims == wanted, "its output has not the shape of its input and one more dimension")


def concatenation(k: MicroContext) -> None:
    """CONCATENATION: at most 10 inputs."""
    first, output = k.input(0), k.output()
    k.require(k.fused == "NONE", f"fused activation {k.fused} is not supported")
    k.one_of(first, "input", "float32", "int8", "int16", "int32", "int64", "bool")
    k.same_type(first, output)
    inputs = len(k.operator.inputs)
    k.require(inputs <= 10, f"it has {inputs} inputs, at most 10 are supported")
    for position in range(inputs):
        input = k.input(position)
        k.same_type(first, input, "inputs")
        k.require(input.rank <= SMALL_RANK, f"an input has more than {SMALL_RANK} dimensions")
        if first.type == "int8":
            alike = (input.scale, input.zero_point) == (output.scale, output.zero_point)
            k.require(alike, "an int8 input differs in quantization from the output")
        elif first.type == "int16":
            zero_points(k, 0, input)
    if first.type == "int16":
        zero_points(k, 0, output)


def pad(k: MicroContext) -> None:
    """PAD and PADV2."""
    k.counts((2, 3))
    input, paddings = k.input(0), k.input(1)
    value = k.maybe_input(2) if len(k.operator.inputs) == 3 else None
    output = k.output()
    k.same_type(input, output)
    k.require(input.rank <= 5, "its input has more than 5 dimensions")
    if value is not None:
        k.same_type(input, value, "input and padding value")
        k.require(value.elements == 1, "its padding value is not one number")
    k.require(paddings.elements == 2 * output.rank, "its paddings do not fit its output")
    k.require(paddings.constant, "its paddings are not a constant")
    # The kernel reads int32 whatever the type says; int64 paddings are misread, and then do not fit.
    values = as_int32(paddings, 2 * output.rank)
    k.require(len(values) >= 2 * output.rank and input.rank >= output.rank, "its paddings are cut short")
    for axis, size in enumerate(output.dims):
        wanted = input.dims[axis] + values[2 * axis] + values[2 * axis + 1]
        k.require(size == wanted, f"its output dimension {axis} is {size}, not {wanted}")
    if input.type == "int8":
        _int8_padding(k, value, output)


def _int8_padding(k: MicroContext, value: MicroTensor | None, output: MicroTensor) -> None:
    if value is None:
        k.require(-128 <= output.zero_point <= 127, "its output zero point does not fit int8")
    else:
        alike = (output.zero_point, output.scale) == (value.zero_point, value.scale)
        k.require(alike, "its padding value differs in quantization from the output")


def mirror_pad(k: MicroContext) -> None:
    """MIRROR_PAD."""
    input, paddings = k.input(0), k.input(1)
    k.output()
    k.require(paddings.rank == 2 and paddings.dims[0] == input.rank, "its paddings do not fit its input")
    k.scratch(4 * input.rank)
    k.scratch(4 * input.rank)


def fill(k: MicroContext) -> None:
    """FILL: its dims must be a constant, and those of the output."""
    dims, value, output = k.input(0), k.input(1), k.output()
    k.require(value.rank == 0, "its value is not a scalar")
    k.same_type(value, output, "value and output")
    k.require(dims.constant, "its dims are not a constant")
    k.require(dims.rank == 1 and dims.dims[0] == output.rank, "its dims do not fit its output")
    k.one_of(dims, "dims", "int8", "int16", "int32", "int64")
    wanted = dims.numbers()
    k.require(wanted is None or wanted == output.dims, f"its output is {output.dims}, its dims say {wanted}")


def broadcast_args(k: MicroContext) -> None:
    """BROADCAST_ARGS."""
    k.counts(2)
    first, second, output = k.input(0), k.input(1), k.output()
    k.one_of(first, "shape", "int32", "int64")
    k.same_type(first, second, "shapes")
    k.same_type(first, output)
    k.require(first.rank == second.rank == output.rank == 1, "a shape is not a list")


def broadcast_to(k: MicroContext) -> None:
    """BROADCAST_TO."""
    k.counts(2)
    input, shape, output = k.input(0), k.input(1), k.output()
    k.require(input.rank <= 5, "its input has more than 5 dimensions")
    k.one_of(shape, "shape", "int32", "int64")
    k.same_type(input, output)
    wanted = k.constant(shape, "its shape")
    k.require(shape.rank == 1 and shape.dims[0] == output.rank <= 5, "its shape does not fit its output")
    k.require(input.rank <= output.rank, "its input has more dimensions than its output")
    ends = output.dims[output.rank - input.rank :]
    fits = all(size in (1, end) for size, end in zip(input.dims, ends, strict=True))
    k.require(output.dims == wanted and fits, "its output is not its input broadcast to the shape")


def batch_space(k: MicroContext) -> None:
    """BATCH_TO_SPACE_ND and SPACE_TO_BATCH_ND."""
    k.counts(3)
    input, output = k.input(0), k.output()
    k.require(input.rank in (3, 4) and output.rank in (3, 4), "input or output has not 3 or 4 dimensions")
    k.same_type(input, output)


def depth_to_space(k: MicroContext) -> None:
    """DEPTH_TO_SPACE."""
    input, output, block = _blocks(k)
    batch, rows, columns, depth = input.dims
    k.require(block > 0 and depth % (block * block) == 0, f"depth {depth} is not made of blocks of {block}")
    dims = (batch, rows * block, columns * block, depth // block // block, *output.dims[4:])
    k.rewrite_dims(output, dims[: output.rank])


def space_to_depth(k: MicroContext) -> None:
    """SPACE_TO_DEPTH."""
    input, output, block = _blocks(k)
    batch, rows, columns, depth = input.dims
    k.require(block != 0, "its block size is 0")
    k.require(rows % block == 0 and columns % block == 0, f"its input is not made of blocks of {block}")
    dims = (batch, rows // block, columns // block, depth * block * block, *output.dims[4:])
    k.rewrite_dims(output, dims[: output.rank])


def _blocks(k: MicroContext) -> tuple[MicroTensor, MicroTensor, int]:
    k.counts(1)
    input, output = k.input(0), k.output()
    k.require(input.rank == 4, "its input has not 4 dimensions")
    k.one_of(output, "output", "float32", "int8")
    k.same_type(input, output)
    return input, output, k.number("block_size")


KERNELS = {
    "BATCH_TO_SPACE_ND": MicroKernel(batch_space),
    "BROADCAST_ARGS": MicroKernel(broadcast_args),
    "BROADCAST_TO": MicroKernel(broadcast_to),
    "CONCATENATION": MicroKernel(concatenation),
    "DEPTH_TO_SPACE": MicroKernel(depth_to_space),
    "EXPAND_DIMS": MicroKernel(expand_dims),
    "FILL": MicroKernel(fill),
    "MIRROR_PAD": MicroKernel(mirror_pad),
    "PAD": MicroKernel(pad),
    "PADV2": MicroKernel(pad),
    "RESHAPE": MicroKernel(reshape),
    "SPACE_TO_BATCH_ND": MicroKernel(batch_space),
    "SPACE_TO_DEPTH": MicroKernel(space_to_depth),
    "SQUEEZE": MicroKernel(squeeze),
    "TRANSPOSE": MicroKernel(transpose),
}
