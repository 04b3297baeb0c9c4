"""Which operators that move values the delegate takes: Visit...Node of xnnpack_delegate.cc."""

from outlive.kernels.xnnpack import checks
from outlive.kernels.xnnpack.checks import MAX_DIMENSIONS, DelegateView, require, scale_and_zero


def concatenation(view: DelegateView) -> None:
    """VisitConcatenationNode."""
    checks.counts(view, (2, 5))
    made, axis = checks.there(view.output()), view.number("axis")
    checks.float_or_eight_bits(made)
    inside = all(tensor is not None and axis < len(view.shape(tensor)) for tensor in view.inputs)
    require(inside, "the axis is out of range")
    same = all(scale_and_zero(tensor) == scale_and_zero(made) for tensor in view.inputs if tensor)
    require(made.dtype != "uint8" or same, "the inputs have other scales than the output")
    checks.float_or_eight_bits(*view.inputs)


def split(view: DelegateView) -> None:
    """VisitSplitNode."""
    require(view.number("num_splits") == len(view.operator.outputs), "the number of outputs is wrong")
    checks.counts(view, (2, 2), (2, 4))
    checks.is_int32(view.input(0))
    checks.static(view, view.input(0))
    checks.float_or_eight_bits(view.input(1), *view.outputs)


def reduce(view: DelegateView) -> None:
    """VisitReduceNode: MEAN, SUM, REDUCE_MAX, REDUCE_MIN."""
    checks.counts(view, (2, 2))
    data, axes = checks.there(view.input(0)), checks.there(view.input(1))
    checks.float_or_eight_bits(data)
    checks.is_int32(axes)
    require(len(view.shape(axes)) <= 1, "its axes are no vector")
    checks.static(view, axes)
    values = checks.integers(axes) or ()
    scalar = values == (0,) and not view.shape(data)
    require(0 < len(values) <= MAX_DIMENSIONS and not scalar, "it reduces no axis, or too many")
    checks.float_or_eight_bits(view.output())


def pad(view: DelegateView) -> None:
    """VisitPadNode."""
    checks.counts(view, (2, 2))
    data, paddings, made = checks.there(view.input(0)), checks.there(view.input(1)), view.output()
    checks.float_or_eight_bits(data)
    shape = checks.dimensions(view, data, 1, MAX_DIMENSIONS)
    checks.is_int32(paddings)
    checks.static(view, paddings)
    checks.float_or_eight_bits(made)
    checks.dimensions(view, made, 1, MAX_DIMENSIONS)
    require(view.shape(paddings) == (len(shape), 2), "its paddings have another shape")
    values = checks.integers(paddings)
    require(values is not None and min(values) >= 0, "a padding is negative")


def reshape(view: DelegateView) -> None:
    """VisitReshapeNode."""
    checks.counts(view, (1, 2))
    data, made, target = checks.there(view.input(0)), checks.there(view.output()), view.input(1)
    checks.float_or_eight_bits(data, made)
    checks.any_rank(view, data, made)
    same = made.dtype not in ("int8", "uint8") or scale_and_zero(data) == scale_and_zero(made)
    require(same, "input and output have different scales")
    if len(view.operator.inputs) == 2:
        checks.is_int32(target)
        checks.vector(view, target, squeeze=True)
        checks.static(view, target)
        values = checks.integers(target)
    else:
        values = view.numbers("new_shape")
    require(values not in ((-1,), (0,)), "to one open dimension")


def resize_bilinear(view: DelegateView) -> None:
    """VisitResizeBilinearNode."""
    data, size, made = view.input(0), view.input(1), view.output()
    checks.counts(view, (2, 2))
    checks.float_or_eight_bits(data, half=False)
    checks.dimensions(view, data, 4)
    checks.is_int32(size)
    checks.vector(view, size)
    checks.static(view, size)
    checks.float_or_eight_bits(made)
    checks.dimensions(view, made, 4)
    require((checks.integers(size) or (0,))[0] > 0, "the new size is not positive")


def slice_(view: DelegateView) -> None:
    """VisitSliceNode: begins and sizes are constants, and no size is left open."""
    begin, size = view.input(1), view.input(2)
    checks.vector(view, begin)
    checks.static(view, begin, size)
    checks.vector(view, size)
    checks.float_or_eight_bits(view.input(0), view.output())
    begins, sizes = checks.integers(begin), checks.integers(size)
    fits = begins is not None and sizes is not None and len(begins) == len(sizes)
    require(fits, "its bounds are no constants of one length")
    require(min(sizes or (), default=0) > 0, "a size is open")


def strided_slice(view: DelegateView) -> None:
    """VisitStridedSliceNode: no mask that changes the rank, no stride but 1."""
    for mask in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
        require(not view.number(mask), mask.replace("_", " "))
    data, begin, end, stride = (view.input(position) for position in range(4))
    checks.vector(view, stride)
    checks.static(view, begin, end, stride)
    checks.is_int32(begin, end, stride)
    checks.float_or_eight_bits(data, view.output())
    require(all(value == 1 for value in checks.integers(stride) or (0,)), "a stride is not 1")
    rank = (len(view.shape(checks.there(data))),)
    whole = all(view.shape(checks.there(tensor)) == rank for tensor in (begin, end, stride))
    require(whole, "its bounds do not cover all dimensions")


def transpose(view: DelegateView) -> None:
    """VisitTransposeNode."""
    checks.counts(view, (2, 2))
    checks.float_or_eight_bits(view.input(0))
    checks.dimensions(view, view.input(0), 1, MAX_DIMENSIONS)
    checks.static(view, view.input(1))


def depth_to_space(view: DelegateView) -> None:
    """VisitDepthToSpaceNode."""
    checks.counts(view, (1, 1))
    checks.float_or_eight_bits(view.input(0), view.output())
    require(view.number("block_size") > 1, "a block of one")


def space_to_depth(view: DelegateView) -> None:
    """VisitSpaceToDepthNode."""
    checks.counts(view, (1, 1))
    data, block = checks.there(view.input(0)), view.number("block_size")
    checks.float_or_eight_bits(data, half=False)
    checks.float_or_eight_bits(view.output())
    shape = view.shape(data)
    fits = block > 1 and len(shape) >= 3 and not shape[1] % block and not shape[2] % block
    require(fits, "the size is no multiple of the block")
