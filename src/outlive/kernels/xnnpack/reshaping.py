"""Which operators that move values the delegate takes: Visit...Node of xnnpack_delegate.cc."""

from __future__ import annotations

from outlive.kernels.xnnpack import checks
from outlive.kernels.xnnpack.datatypes import MAX_DIMENSIONS, Sight, scale_and_zero


def concatenation(sight: Sight) -> str:
    """VisitConcatenationNode."""
    made, count = sight.output(), len(sight.operator.inputs)
    given = [sight.input(position) for position in range(count)]
    axis = checks.number(sight, "axis")
    reason = checks.counts(sight, (2, 5)) or checks.float_or_eight_bits(made)
    if reason or made is None:
        return reason
    if any(tensor is None or axis >= len(sight.shape(tensor)) for tensor in given):
        return "the axis is out of range"
    if made.dtype == "uint8" and any(t and scale_and_zero(t) != scale_and_zero(made) for t in given):
        return "the inputs have other scales than the output"
    return checks.float_or_eight_bits(*given)


def split(sight: Sight) -> str:
    """VisitSplitNode."""
    if checks.number(sight, "num_splits") != len(sight.operator.outputs):
        return "the number of outputs is wrong"
    made = [sight.output(position) for position in range(len(sight.operator.outputs))]
    return (
        checks.counts(sight, (2, 2), (2, 4))
        or checks.is_int32(sight.input(0))
        or checks.static(sight, sight.input(0))
        or checks.float_or_eight_bits(sight.input(1), *made)
    )


def reduce(sight: Sight) -> str:
    """VisitReduceNode: MEAN, SUM, REDUCE_MAX, REDUCE_MIN."""
    data, axes = sight.input(0), sight.input(1)
    reason = (
        checks.counts(sight, (2, 2))
        or checks.float_or_eight_bits(data)
        or checks.is_int32(axes)
        or ("" if axes is not None and len(sight.shape(axes)) <= 1 else "its axes are no vector")
        or checks.static(sight, axes)
    )
    if reason or data is None:
        return reason
    values = checks.integers(axes) or ()
    if not 0 < len(values) <= MAX_DIMENSIONS or (values == (0,) and not sight.shape(data)):
        return "it reduces no axis, or too many"
    return checks.float_or_eight_bits(sight.output())


def pad(sight: Sight) -> str:
    """VisitPadNode."""
    data, paddings, made = sight.input(0), sight.input(1), sight.output()
    reason = (
        checks.counts(sight, (2, 2))
        or checks.float_or_eight_bits(data)
        or checks.dimensions(sight, data, 1, MAX_DIMENSIONS)
        or checks.is_int32(paddings)
        or checks.static(sight, paddings)
        or checks.float_or_eight_bits(made)
        or checks.dimensions(sight, made, 1, MAX_DIMENSIONS)
    )
    if reason or data is None or paddings is None:
        return reason
    if sight.shape(paddings) != (len(sight.shape(data)), 2):
        return "its paddings have another shape"
    values = checks.integers(paddings)
    return "" if values is not None and min(values) >= 0 else "a padding is negative"


def reshape(sight: Sight) -> str:
    """VisitReshapeNode."""
    data, made, target = sight.input(0), sight.output(), sight.input(1)
    reason = (
        checks.counts(sight, (1, 2))
        or checks.float_or_eight_bits(data, made)
        or checks.any_rank(sight, data, made)
    )
    if reason or data is None or made is None:
        return reason
    if made.dtype in ("int8", "uint8") and scale_and_zero(data) != scale_and_zero(made):
        return "input and output have different scales"
    if len(sight.operator.inputs) == 2:
        reason = (
            checks.is_int32(target)
            or checks.vector(sight, target, squeeze=True)
            or checks.static(sight, target)
        )
        values = checks.integers(target)
    else:
        named = checks.option(sight, "new_shape", ())
        values = tuple(named) if isinstance(named, (tuple, list)) else ()
    return reason or ("to one open dimension" if values in ((-1,), (0,)) else "")


def resize_bilinear(sight: Sight) -> str:
    """VisitResizeBilinearNode."""
    data, size, made = sight.input(0), sight.input(1), sight.output()
    return (
        checks.counts(sight, (2, 2))
        or checks.float_or_eight_bits(data, half=False)
        or checks.dimensions(sight, data, 4)
        or checks.is_int32(size)
        or checks.vector(sight, size)
        or checks.static(sight, size)
        or checks.float_or_eight_bits(made)
        or checks.dimensions(sight, made, 4)
        or ("" if (checks.integers(size) or (0,))[0] > 0 else "the new size is not positive")
    )


def slice_(sight: Sight) -> str:
    """VisitSliceNode: begins and sizes are constants, and no size is left open."""
    begin, size = sight.input(1), sight.input(2)
    reason = (
        checks.vector(sight, begin)
        or checks.static(sight, begin, size)
        or checks.vector(sight, size)
        or checks.float_or_eight_bits(sight.input(0), sight.output())
    )
    begins, sizes = checks.integers(begin), checks.integers(size)
    if reason or begins is None or sizes is None or len(begins) != len(sizes):
        return reason or "its bounds are no constants of one length"
    return "" if min(sizes, default=0) > 0 else "a size is open"


def strided_slice(sight: Sight) -> str:
    """VisitStridedSliceNode: no mask that changes the rank, no stride but 1."""
    for mask in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
        if checks.number(sight, mask):
            return mask.replace("_", " ")
    data, begin, end, stride = (sight.input(position) for position in range(4))
    bounds = begin, end, stride
    reason = (
        checks.vector(sight, stride)
        or checks.static(sight, *bounds)
        or checks.is_int32(*bounds)
        or checks.float_or_eight_bits(data, sight.output())
    )
    if reason or data is None:
        return reason
    if any(value != 1 for value in checks.integers(stride) or (0,)):
        return "a stride is not 1"
    rank = len(sight.shape(data))
    ranks = {sight.shape(tensor) for tensor in bounds if tensor is not None}
    return "" if ranks == {(rank,)} else "its bounds do not cover all dimensions"


def transpose(sight: Sight) -> str:
    """VisitTransposeNode."""
    data, order = sight.input(0), sight.input(1)
    return (
        checks.counts(sight, (2, 2))
        or checks.float_or_eight_bits(data)
        or checks.dimensions(sight, data, 1, MAX_DIMENSIONS)
        or checks.static(sight, order)
    )


def depth_to_space(sight: Sight) -> str:
    """VisitDepthToSpaceNode."""
    return (
        checks.counts(sight, (1, 1))
        or checks.float_or_eight_bits(sight.input(0), sight.output())
        or ("" if checks.number(sight, "block_size") > 1 else "a block of one")
    )


def space_to_depth(sight: Sight) -> str:
    """VisitSpaceToDepthNode."""
    data, block = sight.input(0), checks.number(sight, "block_size")
    reason = (
        checks.counts(sight, (1, 1))
        or checks.float_or_eight_bits(data, half=False)
        or checks.float_or_eight_bits(sight.output())
    )
    if reason or data is None:
        return reason
    shape = sight.shape(data)
    if block <= 1 or len(shape) < 3 or shape[1] % block or shape[2] % block:
        return "the size is no multiple of the block"
    return ""
