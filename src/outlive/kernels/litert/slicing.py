"""Operators that pick elements, cut out parts, or make tensors of numbers: SLICE, GATHER, SHAPE, RANGE."""

from dataclasses import dataclass

from outlive.kernels.litert.kernel import (
    Home,
    LiteRTKernel,
    PreparedOutputs,
    always,
    as_in_file,
    dynamic_unless_known,
    folded,
    shape_from,
    shaped,
)
from outlive.kernels.litert.tensor_table import PreparedOutput, Values
from outlive.kernels.litert.view import PrepareView, axis_of, require
from outlive.kernels.view import Shape

_MOST_VALUES, _MOST_INDICES = 1024, 31


def _slice_of(view: PrepareView) -> PreparedOutputs:
    """Left alone if the file fixes the output; else from begin and size: tflite/kernels/slice.cc."""
    if _is_fixed(view):
        return (PreparedOutput(),)
    source, begins, sizes = view.shape(0), view.values(1), view.values(2)
    require(len(begins) == len(sizes) == len(source))
    return shaped(
        tuple(
            whole - begin if size == -1 else size
            for whole, begin, size in zip(source, begins, sizes, strict=True)
        )
    )


def _gather(view: PrepareView) -> PreparedOutputs:
    """Positions in place of one side; computed at Prepare if both are known: tflite/kernels/gather.cc."""
    source, positions = view.shape(0), view.shape(1)
    axis = axis_of(view.number("axis"), len(source))
    batched = view.number("batch_dims")
    batched = batched + len(positions) if batched < 0 else batched
    require(0 <= batched <= axis)
    shape = (*source[:axis], *positions[batched:], *source[axis + 1 :])
    if not view.known(0, 1):
        return (PreparedOutput(shape=shape),)
    values, picks = view.readable(0), view.readable(1)
    picked = None
    if values is not None and picks is not None and len(source) == 1 and batched == 0:
        require(all(0 <= pick < len(values) for pick in picks))
        picked = tuple(values[pick] for pick in picks)
    return (PreparedOutput(shape=shape, values=picked),)


def _gather_nd(view: PrepareView) -> PreparedOutputs:
    """An inner part for each row of indices: tflite/kernels/gather_nd.cc."""
    source, indices = view.shape(0), view.shape(1)
    require(bool(indices) and 0 <= indices[-1] <= len(source))
    return (PreparedOutput(shape=(*indices[:-1], *source[indices[-1] :])),)


def _embedding_lookup(view: PrepareView) -> PreparedOutputs:
    """A row of the table for each key: tflite/kernels/embedding_lookup.cc."""
    return shaped((view.shape(0)[0], *view.shape(1)[1:]))


def _top_k(view: PrepareView) -> PreparedOutputs:
    """The last side cut to k, twice: tflite/kernels/topk_v2.cc."""
    source = view.shape(0)
    require(bool(source))
    return shaped((*source[:-1], view.values(1)[0]))


def _one_hot(view: PrepareView) -> PreparedOutputs:
    """One more side, of the given depth: tflite/kernels/one_hot.cc."""
    source = view.shape(0)
    axis = view.number("axis", -1)
    axis = len(source) if axis == -1 else axis
    return shaped((*source[:axis], view.values(1)[0], *source[axis:]))


def _fill(view: PrepareView) -> PreparedOutputs:
    """As its first input says: tflite/kernels/fill.cc."""
    return (PreparedOutput(shape=view.values(0), dtype=view.dtype(1)),)


def _shape_of(view: PrepareView) -> PreparedOutputs:
    """Known at Prepare, always: tflite/kernels/shape.cc."""
    source = view.shape(0)
    dtype = view.text("out_type").lower() or "int32"
    dtype = dtype if dtype in ("int32", "int64") else "int32"
    return (PreparedOutput(shape=(len(source),), dtype=dtype, values=source),)


def _rank_of(view: PrepareView) -> PreparedOutputs:
    """Known at Prepare, always: tflite/kernels/rank.cc."""
    return (PreparedOutput(shape=(), values=(len(view.shape(0)),)),)


def _ranged(view: PrepareView) -> PreparedOutputs:
    """Computed at Prepare if all three numbers are known: tflite/kernels/range.cc."""
    (start,), (limit,), (delta,) = view.values(0), view.values(1), view.values(2)
    require(delta != 0)
    steps = range(start, limit, delta)
    values: Values | None = tuple(steps) if len(steps) <= _MOST_VALUES else None
    return (PreparedOutput(shape=(len(steps),), dtype=view.dtype(0), values=values),)


def _broadcast_arguments(view: PrepareView) -> PreparedOutputs:
    """The shape that two shapes stretch to: tflite/kernels/broadcast_args.cc."""
    longest = max(view.shape(0)[0], view.shape(1)[0])
    if not view.known(0, 1):
        return shaped((longest,))
    rows = [(1,) * (longest - len(view.values(p))) + view.values(p) for p in (0, 1)]
    values = tuple(b if a == 1 else a for a, b in zip(*rows, strict=True))
    return (PreparedOutput(shape=(longest,), values=values),)


def _where_true(view: PrepareView) -> PreparedOutputs:
    """As many rows as there are true elements: tflite/kernels/where.cc."""
    count = sum(1 for value in view.values(0) if value)
    return (PreparedOutput(shape=(count, len(view.shape(0)))),)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of the input, new ones of length one included, and what is cut out of it."""

    size: int
    start: int
    stop: int
    stride: int
    gone: bool = False

    def picks(self) -> range:
        """The positions that are kept."""
        return range(self.start, self.stop, self.stride)


def _strided_slice(view: PrepareView) -> PreparedOutputs:
    """Dynamic unless its indices are known; computed at Prepare if its input is known too."""
    require(view.known(1, 2))
    sides = _sides(view, view.shape(0), (view.values(1), view.values(2), view.values(3)))
    shape = tuple(len(side.picks()) for side in sides if not side.gone)
    if not view.known(0):
        return (PreparedOutput(shape=shape),)
    values = view.readable(0)
    picked = None
    if values is not None and len(view.shape(0)) == 1 and len(sides) == 1:
        side = sides[0]
        picks = range(side.start, side.start + 1) if side.gone else side.picks()
        picked = tuple(values[pick] for pick in picks)
    return (PreparedOutput(shape=shape, values=picked),)


def _sides(view: PrepareView, source: Shape, indices: tuple[Values, Values, Values]) -> list[_Side]:
    """Each index of the operator in turn: an ellipsis is many sides, a new axis none of the input's."""
    begins, ends, strides = indices
    require(len(begins) == len(ends) == len(strides) <= _MOST_INDICES)
    masks = {
        name: view.number(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    set_in = {name: [bool(mask >> i & 1) for i in range(len(begins))] for name, mask in masks.items()}
    require(sum(set_in["ellipsis"]) <= 1)
    added = sum(new and not dots for new, dots in zip(set_in["new_axis"], set_in["ellipsis"], strict=True))
    left = list(source)
    sides: list[_Side] = []
    for position in range(len(begins)):
        if set_in["ellipsis"][position]:
            spread = max(1, len(source) + added - len(begins) + 1)
            require(spread <= len(left))
            sides += [_Side(size, 0, size, 1) for size in left[:spread]]
            left = left[spread:]
        elif set_in["new_axis"][position]:
            sides.append(_Side(1, 0, 1, 1))
        else:
            require(bool(left))
            whole = set_in["begin"][position], set_in["end"][position]
            cut = begins[position], ends[position], strides[position]
            gone = set_in["shrink_axis"][position]
            if view.number("offset"):  # the end is a length
                require(cut[1] >= 0 and cut[2] > 0)
                sides.append(_Side(left.pop(0), 0, cut[1], cut[2], gone))
            else:
                sides.append(_cut(left.pop(0), cut, whole, gone))
    return sides + [_Side(size, 0, size, 1) for size in left]


def _cut(size: int, cut: tuple[int, int, int], whole: tuple[bool, bool], gone: bool) -> _Side:
    """StartForAxis and EndForAxis: tflite/kernels/internal/strided_slice_logic.h."""
    start, stop, stride = cut
    require(stride != 0)
    low, high = (0, size) if stride > 0 else (-1, size - 1)
    if whole[0]:
        start = low if stride > 0 else high
    else:
        start = min(max(start + size if start < 0 else start, low), high)
    if whole[1]:
        stop = high if stride > 0 else low
    else:
        stop = min(max(stop + size if stop < 0 else stop, low), high)
    return _Side(size, start, stop, stride, gone)


def _strided_slice_home(view: PrepareView) -> Home:
    if not view.known(3) or not (view.number("offset") or view.known(1, 2)):
        return "dynamic"
    return "readonly" if view.known(0, 1, 2) else None


def _is_fixed(view: PrepareView) -> bool:
    """True if the file states the output's shape without open dimensions: it is believed then."""
    target = view.produced()
    return not view.open_dimension(target) and bool(view.shape_of(target))


def _slice_home(view: PrepareView) -> Home:
    if _is_fixed(view):
        return None
    return None if view.known(1, 2) and not view.open_dimension(view.input(0)) else "dynamic"


def _top_k_home(view: PrepareView) -> Home:
    return None if view.known(1) and not view.open_dimension(view.input(0)) else "dynamic"


def _range_home(view: PrepareView) -> Home:
    return "readonly" if view.all_known else "dynamic"


KERNELS = {
    "SLICE": LiteRTKernel(shapes=_slice_of, home=_slice_home),
    "STRIDED_SLICE": LiteRTKernel(shapes=_strided_slice, home=_strided_slice_home),
    "GATHER": LiteRTKernel(shapes=_gather, home=folded, typed_by=0),
    "GATHER_ND": LiteRTKernel(shapes=_gather_nd, typed_by=0),
    "EMBEDDING_LOOKUP": LiteRTKernel(shapes=_embedding_lookup),
    "EMBEDDING_LOOKUP_SPARSE": LiteRTKernel(shapes=as_in_file, home=always("dynamic")),
    "TOPK_V2": LiteRTKernel(shapes=_top_k, home=_top_k_home, typed_by=0),
    "ONE_HOT": LiteRTKernel(shapes=_one_hot, home=dynamic_unless_known(1)),
    "FILL": LiteRTKernel(shapes=_fill, home=dynamic_unless_known(0)),
    "SHAPE": LiteRTKernel(shapes=_shape_of, home=always("readonly")),
    "RANK": LiteRTKernel(shapes=_rank_of, home=always("readonly"), typed_by="int32"),
    "RANGE": LiteRTKernel(shapes=_ranged, home=_range_home),
    "BROADCAST_ARGS": LiteRTKernel(shapes=_broadcast_arguments, home=folded),
    "WHERE": LiteRTKernel(shapes=_where_true, home=dynamic_unless_known(0), typed_by="int64"),
    "SCATTER_ND": LiteRTKernel(shapes=shape_from(2), home=dynamic_unless_known(2), typed_by=1),
    "SPARSE_TO_DENSE": LiteRTKernel(shapes=shape_from(1), home=dynamic_unless_known(1), typed_by=2),
}
