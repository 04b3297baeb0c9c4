"""Options of operators against what kernels can do with them: LiteRT, tflite/kernels/*.cc."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from outlive.rules.operator.prepared import PreparedOperator

Check = Callable[[PreparedOperator], Iterator[str]]
# The highest rank any kernel takes: RuntimeShape and the loops of tflite/kernels/internal.
MOST_DIMENSIONS = 8
_LARGEST_INT = 2**31 - 1


def option_faults(op: PreparedOperator) -> Iterator[str]:
    """What is wrong with an operator's options, in words."""
    if op.operator.options is None:
        return
    for check in _CHECKS.get(op.operator.type, ()):
        yield from check(op)


def _positive(*names: str) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        for name in names:
            value = op.number(name)
            if value is not None and value <= 0:
                yield f"{name} = {value}; the kernel divides or steps by it"

    return check


# Options that count tensors: the option, what it counts, and the slot whose side is cut or made by the axis.
_COUNTED: Mapping[str, tuple[str, str, str]] = {
    "SPLIT": ("num_splits", "outputs", "i1"),
    "SPLIT_V": ("num_splits", "outputs", ""),
    "UNPACK": ("num", "outputs", "i0"),
    "PACK": ("values_count", "inputs", "o0"),
}


def miscounted(op: PreparedOperator) -> Iterator[tuple[str, str]]:
    """A count that is not that of the tensors, and the cause: the shapes tell which of the two is wrong."""
    if op.operator.type not in _COUNTED:
        return
    name, side, slot = _COUNTED[op.operator.type]
    row = op.operator.inputs if side == "inputs" else op.operator.outputs
    value = op.number(name)
    if value is None or value == len(row):
        return
    confirmed = value > 0 and value == _count_by_shape(op, slot)
    yield (
        f"{name} = {value}; the operator has {len(row)} {side}",
        "op-arity" if confirmed else "option-out-of-range",
    )


def _count_by_shape(op: PreparedOperator, slot: str) -> int | None:
    """How many tensors the shapes in the file speak of."""
    if op.operator.type == "SPLIT_V":
        sizes = op.shape("i1")
        return sizes[0] if sizes else None
    tensor, axis = op.tensor(slot), op.number("axis")
    part = op.tensor("o0")
    if op.operator.type == "SPLIT":
        axes = op.values("i0")
        axis = axes[0] if axes else None
    if tensor is None or part is None or axis is None or not -len(tensor.shape) <= axis < len(tensor.shape):
        return None
    if op.operator.type != "SPLIT":
        return tensor.shape[axis]
    return tensor.shape[axis] // max(part.shape[axis], 1) if len(part.shape) == len(tensor.shape) else None


def _counted(op: PreparedOperator) -> Iterator[str]:
    yield from (fact for fact, cause in miscounted(op) if cause == "option-out-of-range")


def _axis(name: str, slot: str, more: int = 0) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        value, shape = op.number(name), op.shape(slot)
        rank = MOST_DIMENSIONS if shape is None else len(shape)
        if value is not None and not -(rank + more) <= value < max(rank + more, 1):
            known = "" if shape is not None else "at most "
            yield f"{name} = {value}; a tensor of {known}rank {rank} does not have this dimension"

    return check


def _one_of(name: str, *words: str) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        value = op.operator.options.get(name) if op.operator.options is not None else None
        if isinstance(value, str) and value not in words:
            yield f"{name} = {value}; the kernel supports {', '.join(words)}"

    return check


def _block(op: PreparedOperator) -> Iterator[str]:
    size, shape = op.number("block_size"), op.shape("i0")
    if size is None:
        return
    if size <= 0:
        yield f"block_size = {size}"
    elif shape is not None and len(shape) == 4:
        deep = op.operator.type == "DEPTH_TO_SPACE"
        parts = (shape[3] % (size * size),) if deep else (shape[1] % size, shape[2] % size)
        if any(parts):
            yield f"block_size = {size}; it does not divide the input's shape {list(shape)}"


def _unpacked(op: PreparedOperator) -> Iterator[str]:
    axis, count, shape = op.number("axis"), op.number("num"), op.shape("i0")
    if axis is None or count is None or shape is None or not -len(shape) <= axis < len(shape):
        return
    if shape[axis] != count == len(op.operator.outputs):
        yield f"num = {count}; dimension {axis} of the input is {shape[axis]}"


def _squeezed(op: PreparedOperator) -> Iterator[str]:
    shape, axes = op.shape("i0"), op.view.numbers("squeeze_dims")
    rank = MOST_DIMENSIONS if shape is None else len(shape)
    for axis in axes[:MOST_DIMENSIONS]:
        if not -rank <= axis < rank:
            yield f"squeeze_dims contains {axis}; the input has {rank} dimensions"
        elif shape is not None and shape[axis] != 1:
            yield f"squeeze_dims contains {axis}; this dimension is {shape[axis]}, not 1"


def _no_activation(op: PreparedOperator) -> Iterator[str]:
    word = op.view.text("fused_activation_function")
    if word not in ("", "NONE"):
        yield f"fused_activation_function = {word}; the kernel supports NONE"


def _strided(op: PreparedOperator) -> Iterator[str]:
    """With `offset` the end is a length: Prepare takes it for the size, Eval takes a masked one for all."""
    if not op.number("offset"):
        return
    ends = op.number("end_mask") or 0
    kept = ends & ~(op.number("shrink_axis_mask") or 0)
    if kept:
        yield f"offset with end_mask = {ends}; the kernel writes more than it allocates"
    begin, length, shape = op.values("i1"), op.values("i2"), op.shape("i0")
    if begin is None or length is None or shape is None or not len(begin) == len(length) == len(shape):
        return
    for axis, size in enumerate(shape):
        start = begin[axis] + size if begin[axis] < 0 else begin[axis]
        if start + length[axis] > size:
            yield f"offset with {length[axis]} elements from {start}; dimension {axis} has {size}"


def _fake_quantized(op: PreparedOperator) -> Iterator[str]:
    """fake_quant.cc and reference_ops::FakeQuant: 2 to 16 bits, a range that is none."""
    bits = op.number("num_bits")
    if bits is not None and not 2 <= bits <= 16:
        yield f"num_bits = {bits}; the kernel supports 2 to 16"
    options = op.operator.options
    low, high = (options.get("min"), options.get("max")) if options is not None else (None, None)
    if isinstance(low, float) and isinstance(high, float) and not (low <= 0.0 <= high and low < high):
        yield f"min = {low:g}, max = {high:g}; the range must contain 0"


def _skip_gram(op: PreparedOperator) -> Iterator[str]:
    size, skip = op.number("ngram_size"), op.number("max_skip_size")
    if size is not None and size < 1:
        yield f"ngram_size = {size}"
    if skip is not None and skip < 0:
        yield f"max_skip_size = {skip}"


def _boundaries(op: PreparedOperator) -> Iterator[str]:
    options = op.operator.options
    edges = options.get("boundaries") if options is not None else None
    if isinstance(edges, tuple) and any(not a <= b for a, b in pairwise(edges)):
        yield "boundaries are not sorted"


def _both_centres(op: PreparedOperator) -> Iterator[str]:
    if op.number("align_corners") and op.number("half_pixel_centers"):
        yield "align_corners and half_pixel_centers; the kernel supports one of them"


def _gathered(op: PreparedOperator) -> Iterator[str]:
    """gather.cc: no more batch dimensions than the indices have, and none behind the axis."""
    indices, batch = op.shape("i1"), op.number("batch_dims")
    axis, shape = op.number("axis"), op.shape("i0")
    if batch is None or indices is None or shape is None or axis is None:
        return
    batch = batch + len(indices) if batch < 0 else batch
    axis = axis + len(shape) if axis < 0 else axis
    if not 0 <= batch <= len(indices) or batch > axis or batch >= max(len(shape), 1):
        yield f"batch_dims = {batch} with axis {axis} and indices of rank {len(indices)}"


def _hlo_gathered(op: PreparedOperator) -> Iterator[str]:
    """stablehlo_gather.cc follows these lists without looking at their ends."""
    view, shape, starts = op.view, op.shape("i0"), op.shape("i1")
    sizes, collapsed = view.numbers("slice_sizes"), view.numbers("collapsed_slice_dims")
    offsets, places = view.numbers("offset_dims"), view.numbers("start_index_map")
    vector = op.number("index_vector_dim") or 0
    out = op.tensor("o0")
    if any(not 0 <= axis < len(sizes) for axis in collapsed) or len(set(collapsed)) != len(collapsed):
        yield f"collapsed_slice_dims = {list(collapsed)}; slice_sizes has {len(sizes)} entries"
    elif len(sizes) - len(collapsed) != len(offsets):
        kept = len(sizes) - len(collapsed)
        yield f"offset_dims = {list(offsets)}; {kept} dimensions remain after collapsed_slice_dims"
    if shape is not None:
        if len(sizes) != len(shape) or any(not 0 <= n <= size for n, size in zip(sizes, shape, strict=False)):
            yield f"slice_sizes = {list(sizes)}; the input has the shape {list(shape)}"
        if any(not 0 <= axis < len(shape) for axis in places):
            yield f"start_index_map = {list(places)}; the input has rank {len(shape)}"
    if out is not None and any(not 0 <= axis < len(out.shape) for axis in offsets):
        yield f"offset_dims = {list(offsets)}; the output has rank {len(out.shape)}"
    if starts is not None and not 0 <= vector <= len(starts):
        yield f"index_vector_dim = {vector}; the indices have rank {len(starts)}"
    if starts is not None and 0 <= vector < len(starts) and 0 < starts[vector] != len(places):
        yield f"start_index_map has {len(places)} entries; the index vectors have {starts[vector]}"


def _lists(*names: str, least: int) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        shape = op.shape("i0")
        for name in names:
            values = op.view.numbers(name)
            if values and any(value < least for value in values):
                yield f"{name} = {list(values)[:8]}; the minimum is {least}"
            if shape is not None and values and len(values) % max(len(shape), 1):
                yield f"{name} has {len(values)} entries; the input has rank {len(shape)}"

    return check


def _svdf(op: PreparedOperator) -> Iterator[str]:
    rank, weights = op.number("rank"), op.shape("i1")
    if rank is not None and rank > 0 and weights and weights[0] % rank:
        yield f"rank = {rank}; it does not divide the {weights[0]} filters"


def _neighbours(op: PreparedOperator) -> Iterator[str]:
    """optimized_ops.h, LocalResponseNormalization: a vector padded by the radius on both sides, in int."""
    radius = op.number("radius")
    if radius is not None and radius < 0:
        yield f"radius = {radius}; the kernel reserves this many channels on each side"
    elif radius is not None and 2 * radius > _LARGEST_INT:
        yield f"radius = {radius}; twice the radius overflows a 32-bit integer"


_STRIDES = _positive("stride_w", "stride_h")
_SPREAD = _positive("dilation_w_factor", "dilation_h_factor")
_WINDOW = _positive("filter_width", "filter_height")
_WHOLE = ("INT32", "INT64")

_CHECKS: dict[str, tuple[Check, ...]] = {
    "CONV_2D": (_STRIDES, _SPREAD),
    "DEPTHWISE_CONV_2D": (_STRIDES, _SPREAD),
    "TRANSPOSE_CONV": (_STRIDES,),
    "CONV_3D": (_STRIDES, _SPREAD, _positive("stride_d", "dilation_d_factor")),
    "CONV_3D_TRANSPOSE": (_STRIDES, _SPREAD, _positive("stride_d", "dilation_d_factor")),
    "AVERAGE_POOL_2D": (_STRIDES, _WINDOW),
    "MAX_POOL_2D": (_STRIDES, _WINDOW),
    "L2_POOL_2D": (_STRIDES, _WINDOW),
    "SPLIT": (_counted,),
    "SPLIT_V": (_counted,),
    "UNPACK": (_counted, _axis("axis", "i0"), _unpacked),
    "PACK": (_counted, _axis("axis", "i0", more=1)),
    "CONCATENATION": (_axis("axis", "i0"), _no_activation),
    "GATHER": (_axis("axis", "i0"), _gathered),
    "ONE_HOT": (_axis("axis", "i0", more=1),),
    "SQUEEZE": (_squeezed,),
    "REVERSE_SEQUENCE": (_axis("seq_dim", "i0"), _axis("batch_dim", "i0")),
    "DEPTH_TO_SPACE": (_block,),
    "SPACE_TO_DEPTH": (_block,),
    "SVDF": (_positive("rank"), _svdf),
    "LOCAL_RESPONSE_NORMALIZATION": (_neighbours,),
    "FAKE_QUANT": (_fake_quantized,),
    "SKIP_GRAM": (_skip_gram,),
    "LSH_PROJECTION": (_one_of("type", "SPARSE", "DENSE"),),
    "BUCKETIZE": (_boundaries,),
    "RESIZE_BILINEAR": (_both_centres,),
    "RESIZE_NEAREST_NEIGHBOR": (_both_centres,),
    "SHAPE": (_one_of("out_type", *_WHOLE),),
    "ARG_MAX": (_one_of("output_type", *_WHOLE),),
    "ARG_MIN": (_one_of("output_type", *_WHOLE),),
    "UNIQUE": (_one_of("idx_out_type", *_WHOLE),),
    "STRIDED_SLICE": (_strided,),
    "STABLEHLO_GATHER": (_hlo_gathered,),
    "STABLEHLO_PAD": (
        _lists("edge_padding_low", "edge_padding_high", least=-(2**31)),
        _lists("interior_padding", least=0),
    ),
    "STABLEHLO_REDUCE_WINDOW": (
        _lists("window_dimensions", "window_strides", "base_dilations", "window_dilations", least=1),
    ),
}  # fmt: skip
