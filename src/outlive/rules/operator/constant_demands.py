"""Constants that say where and how much, against what they are said of: LiteRT, tflite/kernels/*.cc.

Axes, orders, indices, sizes, paddings, strides and divisors that the file decides. What only a run
knows is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from outlive.rules.operator.option_demands import MOST_DIMENSIONS
from outlive.rules.operator.prepared import PreparedOperator

Check = Callable[[PreparedOperator], Iterator[str]]


def constant_faults(op: PreparedOperator) -> Iterator[str]:
    """What is wrong with the values of an operator's constants, in words."""
    for check in _CHECKS.get(op.operator.type, ()):
        yield from check(op)


def _axes(slot: str, of: str, more: int = 0) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        shape = op.shape(of)
        rank = (MOST_DIMENSIONS if shape is None else len(shape)) + more
        wrong = [axis for axis in op.values(slot) or () if not -rank <= axis < max(rank, 1)]
        if wrong:
            known = "a tensor of at most 8 dimensions" if shape is None else f"a tensor of rank {len(shape)}"
            yield f"{op.describe(slot)} holds {wrong[0]}; {known} does not have this dimension"

    return check


def _at_least(least: int, *slots: str) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        for slot in slots:
            wrong = [value for value in op.values(slot) or () if value < least]
            if wrong:
                yield f"{op.describe(slot)} contains {wrong[0]}; the minimum is {least}"

    return check


def _not_zero(slot: str) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        if 0 in (op.values(slot) or ()):
            yield f"{op.describe(slot)} contains 0; the kernel divides by it"

    return check


def _indices(slot: str, of: str, axis: int = 0) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        shape, along = op.shape(of), axis
        if op.operator.type == "GATHER":
            along = op.number("axis") or 0
        if not shape or not -len(shape) <= along < len(shape):
            return
        wrong = [index for index in op.values(slot) or () if not 0 <= index < shape[along]]
        if wrong:
            yield f"{op.describe(slot)} contains {wrong[0]}; the table has {shape[along]} entries"

    return check


def _order(op: PreparedOperator) -> Iterator[str]:
    order = op.values("i1")
    if order is None:
        return
    rank = len(order)
    wrong = [axis for axis in order if not -rank <= axis < rank]
    if wrong:
        yield f"{op.describe('i1')} contains {wrong[0]}; a tensor of rank {rank} does not have this dimension"
    elif len({axis % rank for axis in order}) != rank:
        yield f"{op.describe('i1')} is {list(order)}; each dimension may occur once"


def _parts(op: PreparedOperator) -> Iterator[str]:
    """split_v.cc: the parts fill the side, one of them may be the rest."""
    sizes, axes, shape = op.values("i1"), op.values("i2"), op.shape("i0")
    if sizes is None:
        return
    if any(size < -1 for size in sizes) or sizes.count(-1) > 1:
        yield f"{op.describe('i1')} is {list(sizes[:8])}"
    elif axes and shape is not None and -len(shape) <= axes[0] < len(shape):
        side, total = shape[axes[0]], sum(size for size in sizes if size != -1)
        if total > side or (total != side and -1 not in sizes):
            yield f"{op.describe('i1')} sums to {total}; the dimension is {side}"


def _slice(op: PreparedOperator) -> Iterator[str]:
    begin, size, shape = op.values("i1"), op.values("i2"), op.shape("i0")
    if size is not None and any(length < -1 for length in size):
        yield f"{op.describe('i2')} contains {min(size)}"
        return
    if begin is not None and any(start < 0 for start in begin):
        yield f"{op.describe('i1')} contains {min(begin)}"
        return
    if begin is None or size is None or shape is None or not len(begin) == len(size) == len(shape):
        return
    for axis, side in enumerate(shape):
        if begin[axis] + max(size[axis], 0) > side:
            yield f"{size[axis]} elements from {begin[axis]}; dimension {axis} has {side}"


def _mirrored(op: PreparedOperator) -> Iterator[str]:
    """mirror_pad.cc: no more than the side has to mirror."""
    ends, shape = op.values("i1"), op.shape("i0")
    if ends is None or shape is None or len(ends) != 2 * len(shape):
        return
    edge = 0 if op.view.text("mode") == "SYMMETRIC" else 1
    for axis, side in enumerate(shape):
        most = max(ends[2 * axis], ends[2 * axis + 1])
        if most > side - edge and most > 0:
            yield f"{op.describe('i1')} requests {most} in dimension {axis}, which has {side}"


def _reshaped(op: PreparedOperator) -> Iterator[str]:
    wanted = op.values("i1")
    if wanted is None:
        wanted = op.view.numbers("new_shape") if len(op.operator.inputs) == 1 else ()
    if any(size < -1 for size in wanted) or wanted.count(-1) > 1:
        yield f"new shape {list(wanted[:8])}"


def _top(op: PreparedOperator) -> Iterator[str]:
    count, shape = op.values("i1"), op.shape("i0")
    if not count:
        return
    if count[0] < 0 or (shape and count[0] > shape[-1]):
        room = "" if not shape else f"; the input has {shape[-1]} values"
        yield f"{op.describe('i1')} is {count[0]}{room}"


def _blocks(op: PreparedOperator) -> Iterator[str]:
    """space_to_batch_nd.cc and batch_to_space_nd.cc: what is cut must be there, and divide."""
    block, ends, shape = op.values("i1"), op.values("i2"), op.shape("i0")
    if block is None or any(size < 1 for size in block) or shape is None or not shape:
        return
    total = 1
    for size in block:
        total *= size
    back = op.operator.type == "BATCH_TO_SPACE_ND"
    if back and shape[0] % total:
        yield f"{op.describe('i1')} is {list(block)}; the batch of {shape[0]} is not a multiple of {total}"
    if ends is None or len(ends) != 2 * len(block) or len(shape) <= len(block) or back:
        return
    for axis, size in enumerate(block):
        side = shape[axis + 1] + ends[2 * axis] + ends[2 * axis + 1]
        if side % size:
            yield f"{op.describe('i1')} is {list(block)}; dimension {axis + 1} is {side} with padding"


def _powers(op: PreparedOperator) -> Iterator[str]:
    """rfft2d.cc: lengths are powers of two."""
    wrong = [size for size in op.values("i1") or () if size <= 0 or size & (size - 1)]
    if wrong:
        yield f"{op.describe('i1')} contains {wrong[0]}, not a power of two"


def _stretched(op: PreparedOperator) -> Iterator[str]:
    wanted, shape = op.values("i1"), op.shape("i0")
    if wanted is None or shape is None or len(shape) > len(wanted):
        return
    ends = zip(shape[::-1], wanted[::-1], strict=False)
    if any(side not in (1, size) for side, size in ends):
        yield f"{op.describe('i1')} is {list(wanted)}; {list(shape)} does not broadcast to it"


def _scattered(op: PreparedOperator) -> Iterator[str]:
    """scatter_nd.cc: every index lies in the shape that is asked for."""
    indices, wanted, places = op.values("i0"), op.values("i2"), op.shape("i0")
    if not indices or wanted is None or not places:
        return
    depth = places[-1]
    if not 0 < depth <= len(wanted):
        return
    if any(not 0 <= index < wanted[at % depth] for at, index in enumerate(indices)):
        yield f"{op.describe('i0')} contains an index outside the shape {list(wanted)}"


def _picked(op: PreparedOperator) -> Iterator[str]:
    """gather_nd.cc."""
    indices, shape, places = op.values("i1"), op.shape("i0"), op.shape("i1")
    if not indices or not shape or not places or not 0 < places[-1] <= len(shape):
        return
    depth = places[-1]
    if any(not 0 <= index < shape[at % depth] for at, index in enumerate(indices)):
        yield f"{op.describe('i1')} contains an index outside the shape {list(shape)}"


def _lengths(op: PreparedOperator) -> Iterator[str]:
    lengths, shape, axis = op.values("i1"), op.shape("i0"), op.number("seq_dim") or 0
    if lengths and shape and 0 <= axis < len(shape):
        wrong = [size for size in lengths if not 0 <= size <= shape[axis]]
        if wrong:
            yield f"{op.describe('i1')} contains {wrong[0]}; dimension {axis} has {shape[axis]}"


def _segments(slot: str) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        numbers, count = op.values("i1"), op.values(slot)
        if numbers and any(number < 0 for number in numbers) and slot == "i1":
            yield f"{op.describe('i1')} contains {min(numbers)}"
        if numbers and count and slot != "i1" and max(numbers) >= count[0]:
            yield f"{op.describe('i1')} contains {max(numbers)}; the output has {count[0]} segments"

    return check


_REDUCE: tuple[Check, ...] = (_axes("i1", "i0"),)
_DIVIDE: tuple[Check, ...] = (_not_zero("i1"),)
_CHECKS: dict[str, tuple[Check, ...]] = {
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"), _REDUCE),
    **dict.fromkeys(("REDUCE_ANY", "REDUCE_ALL"), _REDUCE),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN", "CUMSUM", "REVERSE_V2"), _REDUCE),
    **dict.fromkeys(("DIV", "FLOOR_DIV", "FLOOR_MOD"), _DIVIDE),
    "EXPAND_DIMS": (_axes("i1", "i0", more=1),),
    "SPLIT": (_axes("i0", "i1"),),
    "SPLIT_V": (_axes("i2", "i0"), _parts),
    "TRANSPOSE": (_order,),
    "GATHER": (_indices("i1", "i0"),),
    "EMBEDDING_LOOKUP": (_indices("i0", "i1"),),
    "GATHER_ND": (_picked,),
    "SCATTER_ND": (_at_least(0, "i2"), _scattered),
    "SPARSE_TO_DENSE": (_at_least(0, "i0", "i1"),),
    "TOPK_V2": (_top,),
    "ONE_HOT": (_at_least(0, "i1"),),
    "SLICE": (_slice,),
    "STRIDED_SLICE": (_not_zero("i3"),),
    "PAD": (_at_least(0, "i1"),),
    "PADV2": (_at_least(0, "i1"),),
    "MIRROR_PAD": (_at_least(0, "i1"), _mirrored),
    "TILE": (_at_least(0, "i1"),),
    "FILL": (_at_least(0, "i0"),),
    "BROADCAST_TO": (_at_least(0, "i1"), _stretched),
    "RESHAPE": (_reshaped,),
    "RESIZE_BILINEAR": (_at_least(1, "i1"),),
    "RESIZE_NEAREST_NEIGHBOR": (_at_least(1, "i1"),),
    "TRANSPOSE_CONV": (_at_least(1, "i0"),),
    "CONV_3D_TRANSPOSE": (_at_least(1, "i0"),),
    "SPACE_TO_BATCH_ND": (_at_least(1, "i1"), _at_least(0, "i2"), _blocks),
    "BATCH_TO_SPACE_ND": (_at_least(1, "i1"), _at_least(0, "i2"), _blocks),
    "RANGE": (_not_zero("i2"),),
    "RANDOM_UNIFORM": (_at_least(0, "i0"),),
    "RANDOM_STANDARD_NORMAL": (_at_least(0, "i0"),),
    "RFFT2D": (_powers,),
    "NON_MAX_SUPPRESSION_V4": (_at_least(0, "i2"),),
    "NON_MAX_SUPPRESSION_V5": (_at_least(0, "i2"),),
    "REVERSE_SEQUENCE": (_lengths,),
    "SEGMENT_SUM": (_segments("i1"),),
    "UNSORTED_SEGMENT_MAX": (_segments("i2"),),
    "UNSORTED_SEGMENT_MIN": (_segments("i2"),),
    "UNSORTED_SEGMENT_PROD": (_segments("i2"),),
    "UNSORTED_SEGMENT_SUM": (_segments("i2"),),
    "DILATE": (_at_least(1, "i1"),),
    "REDUCE_WINDOW": (_at_least(1, "i2", "i3", "i4"),),
    "BROADCAST_ARGS": (_at_least(0, "i0", "i1"),),
}  # fmt: skip
