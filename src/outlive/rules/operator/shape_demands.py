"""Shapes of an operator's tensors against each other: LiteRT, tflite/kernels/*.cc.

Each check yields the faulty fact and the cause: `rank-mismatch` where the number of dimensions is wrong,
`shape-mismatch` where their sizes are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from outlive.kernels.litert.elementwise import broadcast_inputs
from outlive.kernels.litert.registry import kernel_of
from outlive.rules.operator.prepared import PreparedOperator
from outlive.units import format_shape

Check = Callable[[PreparedOperator], Iterator[str]]


def rank_faults(op: PreparedOperator) -> Iterator[str]:
    """What is wrong with the number of dimensions of an operator's tensors, in words."""
    if op.signature is None:
        return
    for slot, (low, high) in op.signature.ranks.items():
        shape = op.shape(slot) if slot[0] == "i" else None
        if shape is not None and not low <= len(shape) <= high:
            wanted = str(low) if low == high else f"{low} to {high}"
            yield f"{op.describe(slot)} has rank {len(shape)}; the kernel supports rank {wanted}"
            return
    for check in _RANKS.get(op.operator.type, ()):
        yield from check(op)


def shape_faults(op: PreparedOperator) -> Iterator[str]:
    """What is wrong with the sizes of an operator's tensors, in words."""
    check = _SHAPES.get(op.operator.type)
    if check is None and kernel_of(op.operator.type).shapes is broadcast_inputs:
        check = _broadcast
    if check is not None:
        yield from check(op)


def _entries(slot: str, of: str, times: int = 1, exact: bool = True) -> Check:
    """As many entries as the other tensor has dimensions."""

    def check(op: PreparedOperator) -> Iterator[str]:
        row, shape = op.shape(slot), op.shape(of)
        if row is None or shape is None:
            return
        count = math.prod(row)
        if count != times * len(shape) if exact else count > times * len(shape):
            yield f"{op.describe(slot)} has {count} entries; {op.describe(of)} has rank {len(shape)}"

    return check


def _blocks(op: PreparedOperator) -> Iterator[str]:
    """space_to_batch_nd.cc, batch_to_space_nd.cc: an entry for each side between batch and channels."""
    source, block, ends = op.shape("i0"), op.shape("i1"), op.shape("i2")
    if source is None or block is None or len(source) < 3:
        return
    if math.prod(block) != len(source) - 2:
        yield f"{op.describe('i1')} has {math.prod(block)} entries for an input of rank {len(source)}"
    elif ends is not None and math.prod(ends) != 2 * math.prod(block):
        yield f"{op.describe('i2')} is {format_shape(ends)} for {math.prod(block)} dimensions"


def _same_rank(*words: str) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        first = op.shape("i0")
        for slot in (slot for word in words for slot in op.slots(word)):
            shape = op.shape(slot)
            if first is not None and shape is not None and len(shape) != len(first):
                yield f"{op.describe(slot)} has rank {len(shape)}; input 0 has {len(first)}"
                return

    return check


def _broadcast(op: PreparedOperator) -> Iterator[str]:
    left, right = op.shape("i0"), op.shape("i1")
    if left is None or right is None:
        return
    pairs = zip(left[::-1], right[::-1], strict=False)
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        yield f"{format_shape(left)} and {format_shape(right)} do not broadcast"


def _bias(op: PreparedOperator, slot: str, channels: int) -> Iterator[str]:
    bias = op.shape(slot)
    if bias is not None and math.prod(bias) != channels:
        yield f"{op.describe(slot)} has {math.prod(bias)} values for {channels} channels"


def _window(op: PreparedOperator, sides: tuple[int, ...], window: tuple[int, ...]) -> Iterator[str]:
    """ComputeOutSize, tflite/kernels/padding.h: a window that does not fit leaves less than nothing."""
    if op.view.text("padding") != "VALID":
        return
    spread = (op.number("dilation_h_factor") or 1, op.number("dilation_w_factor") or 1)
    strides = (op.number("stride_h") or 1, op.number("stride_w") or 1)
    for axis, (side, size) in enumerate(zip(sides, window, strict=False)):
        reach = (size - 1) * spread[axis] + 1
        if side + strides[axis] < reach:
            yield f"window of {reach} for a dimension of {side} without padding"
            return


def _conv(op: PreparedOperator) -> Iterator[str]:
    source, filters = op.shape("i0"), op.shape("i1")
    if filters is not None and len(filters) == 4:
        yield from _bias(op, "i2", filters[0])
    if source is None or filters is None or not len(source) == len(filters) == 4:
        return
    if not filters[3] or source[3] % filters[3] or filters[0] % max(source[3] // filters[3], 1):
        yield f"{source[3]} input channels, filters for {filters[3]}"
    yield from _window(op, source[1:3], filters[1:3])


def _depthwise(op: PreparedOperator) -> Iterator[str]:
    source, filters = op.shape("i0"), op.shape("i1")
    if filters is not None and len(filters) == 4:
        yield from _bias(op, "i2", filters[3])
        if filters[0] != 1:
            yield f"{op.describe('i1')} is {format_shape(filters)}; its first dimension must be 1"
    if source is None or filters is None or not len(source) == len(filters) == 4:
        return
    if source[3] and filters[3] % source[3]:
        yield f"{source[3]} input channels, {filters[3]} filters; the second must be a multiple of the first"
    yield from _window(op, source[1:3], filters[1:3])


def _blocks_of_pixels(op: PreparedOperator) -> Iterator[str]:
    """space_to_depth.cc: sides are whole numbers of blocks."""
    source, block = op.shape("i0"), op.number("block_size")
    if source is not None and len(source) == 4 and block and any(side % block for side in source[1:3]):
        yield f"input {format_shape(source)} with blocks of {block}"


def _transpose_conv(op: PreparedOperator) -> Iterator[str]:
    source, weights, wanted = op.shape("i2"), op.shape("i1"), op.values("i0")
    if wanted is not None and len(wanted) != 4:
        yield f"{op.describe('i0')} has {len(wanted)} entries; the kernel needs 4"
    if weights is None or len(weights) != 4:
        return
    yield from _bias(op, "i3", weights[0])
    if source is not None and len(source) == 4 and source[3] != weights[3]:
        yield f"{source[3]} input channels, weights for {weights[3]}"
    if wanted is not None and len(wanted) == 4 and wanted[3] != weights[0]:
        yield f"{wanted[3]} output channels, weights for {weights[0]}"


def _conv_3d(op: PreparedOperator) -> Iterator[str]:
    source, filters = op.shape("i0"), op.shape("i1")
    if filters is not None and len(filters) == 5:
        yield from _bias(op, "i2", filters[4])
    if (
        source is not None
        and filters is not None
        and len(source) == len(filters) == 5
        and source[4] != filters[3]
    ):
        yield f"{source[4]} input channels, filters for {filters[3]}"


def _dense(op: PreparedOperator) -> Iterator[str]:
    source, weights = op.shape("i0"), op.shape("i1")
    if weights is None or len(weights) != 2:
        return
    yield from _bias(op, "i2", weights[0])
    if source is None:
        return
    depth = weights[1]
    if op.number("keep_num_dims"):
        if not source or source[-1] != depth:
            yield f"input {format_shape(source)}, weights {format_shape(weights)}"
    elif depth and math.prod(source) % depth:
        yield f"{math.prod(source)} input values, weights for {depth}"


def _matmul(op: PreparedOperator) -> Iterator[str]:
    left, right = op.shape("i0"), op.shape("i1")
    if left is None or right is None or min(len(left), len(right)) < 2:
        return
    inner = left[-2] if op.number("adj_x") else left[-1]
    other = right[-1] if op.number("adj_y") else right[-2]
    if inner != other:
        yield f"{format_shape(left)} times {format_shape(right)}; {inner} columns, {other} rows"
    if any(a != b and 1 not in (a, b) for a, b in zip(left[-3::-1], right[-3::-1], strict=False)):
        yield f"the batches of {format_shape(left)} and {format_shape(right)} do not broadcast"


def _joined(op: PreparedOperator) -> Iterator[str]:
    first = op.shape("i0")
    axis = op.number("axis") or 0
    if first is None or not -len(first) <= axis < len(first):
        return
    axis = axis % len(first)
    for slot in op.slots("i*"):
        shape = op.shape(slot)
        if shape is None or len(shape) != len(first):
            continue
        if any(a != b for at, (a, b) in enumerate(zip(first, shape, strict=True)) if at != axis):
            words = f"; input 0 is {format_shape(first)}, only dimension {axis} may differ"
            yield f"{op.describe(slot)} is {format_shape(shape)}{words}"
            return


def _packed(op: PreparedOperator) -> Iterator[str]:
    first = op.shape("i0")
    for slot in op.slots("i*"):
        shape = op.shape(slot)
        if first is not None and shape is not None and len(shape) == len(first) and shape != first:
            yield f"{op.describe(slot)} is {format_shape(shape)}; input 0 is {format_shape(first)}"
            return


def _reshaped(op: PreparedOperator) -> Iterator[str]:
    source = op.shape("i0")
    # reshape.cc: a shape that is no vector of int32 is not looked at.
    by_tensor = len(op.operator.inputs) > 1 and len(op.shape("i1") or ()) == 1
    by_tensor = by_tensor and op.dtype("i1") == "int32"
    wanted = op.values("i1") if by_tensor else op.view.numbers("new_shape")
    if source is None or wanted is None or op.dtype("o0") == "string" or any(size < -1 for size in wanted):
        return
    if len(op.operator.inputs) > 1 and op.shape("i1") is None:
        return
    wanted = () if wanted == (0,) and not by_tensor else wanted
    have, rest = math.prod(source), math.prod(size for size in wanted if size != -1)
    fits = (have % rest == 0 if rest else have == 0) if -1 in wanted else have == rest
    if not fits and wanted.count(-1) < 2:
        yield f"{format_shape(source)} has {have} values; the new shape is {list(wanted)}"


def _even(op: PreparedOperator) -> Iterator[str]:
    source, axes, count = op.shape("i1"), op.values("i0"), op.number("num_splits")
    if source is None or not axes or not count or not -len(source) <= axes[0] < len(source):
        return
    if source[axes[0]] % count and count == len(op.operator.outputs):
        yield f"dimension {axes[0]} has {source[axes[0]]}, not divisible by {count}"


def _rnn(op: PreparedOperator) -> Iterator[str]:
    """basic_rnn.cc, unidirectional_sequence_rnn.cc."""
    source, weights, recurrent = op.shape("i0"), op.shape("i1"), op.shape("i2")
    if weights is None or len(weights) != 2:
        return
    if source and source[-1] != weights[1]:
        yield f"{source[-1]} input values per step, weights for {weights[1]}"
    if recurrent is not None and recurrent != (weights[0], weights[0]):
        yield f"{op.describe('i2')} is {format_shape(recurrent)} for {weights[0]} units"
    yield from _bias(op, "i3", weights[0])
    state = op.shape("i4")
    if state is not None and len(state) == 2 and state[1] != weights[0]:
        yield f"{op.describe('i4')} is {format_shape(state)} for {weights[0]} units"


def _svdf(op: PreparedOperator) -> Iterator[str]:
    source, feature, time, state = (op.shape(slot) for slot in ("i0", "i1", "i2", "i4"))
    if feature is None or time is None or len(feature) != 2 or len(time) != 2:
        return
    if source is not None and len(source) == 2 and source[1] != feature[1]:
        yield f"{source[1]} input values, weights for {feature[1]}"
    if feature[0] != time[0]:
        yield f"{feature[0]} filters in the feature weights, {time[0]} in the time weights"
    if state is not None and len(state) == 2 and state[1] != time[1] * feature[0]:
        yield f"{op.describe('i4')} is {format_shape(state)}; the state has {time[1] * feature[0]} values"


def _lstm(op: PreparedOperator) -> Iterator[str]:
    """unidirectional_sequence_lstm.cc: CheckLstmTensorDimensionsAndTypes."""
    source, forget, recurrent = op.shape("i0"), op.shape("i2"), op.shape("i6")
    if forget is None or recurrent is None or len(forget) != 2 or len(recurrent) != 2:
        return
    if source and source[-1] != forget[1]:
        yield f"{source[-1]} input values per step, weights for {forget[1]}"
    for slot, wanted in (("i3", forget), ("i4", forget), ("i7", recurrent), ("i8", recurrent)):
        shape = op.shape(slot)
        if shape is not None and shape != wanted:
            yield f"{op.describe(slot)} is {format_shape(shape)}; the kernel needs {format_shape(wanted)}"
    for slot in ("i13", "i14", "i15"):
        yield from _bias(op, slot, forget[0])


def _two_values(slot: str) -> Check:
    def check(op: PreparedOperator) -> Iterator[str]:
        row = op.shape(slot)
        if row is not None and math.prod(row) != 2:
            yield f"{op.describe(slot)} has {math.prod(row)} values; the kernel needs 2"

    return check


def _spare_bytes(slot: str) -> Check:
    """The kernel divides or copies the bytes of the constant, not those of its shape."""

    def check(op: PreparedOperator) -> Iterator[str]:
        tensor = op.tensor(slot)
        if tensor is None or not tensor.has_data or tensor.size_bytes is None or tensor.sparsity is not None:
            return
        if tensor.stored_bytes > tensor.size_bytes:
            words = f"{tensor.stored_bytes} bytes, {format_shape(tensor.shape)} needs {tensor.size_bytes}"
            yield f"{op.describe(slot)} has {words}; the kernel copies them all"

    return check


def _cut(op: PreparedOperator) -> Iterator[str]:
    """strided_slice.cc: as many ends and strides as begins."""
    rows = [op.shape(slot) for slot in ("i1", "i2", "i3")]
    counts = [math.prod(row) for row in rows if row is not None]
    if len(set(counts)) > 1:
        yield f"begin, end and strides have {', '.join(map(str, counts))} entries"


def _update(op: PreparedOperator) -> Iterator[str]:
    whole, part = op.shape("i0"), op.shape("i1")
    if whole is None or part is None or len(whole) != len(part):
        return
    if any(b > a for a, b in zip(whole, part, strict=True)):
        yield f"update of {format_shape(part)} for {format_shape(whole)}"


def _scattered(op: PreparedOperator) -> Iterator[str]:
    """scatter_nd.cc: an update for each index."""
    places, updates = op.shape("i0"), op.shape("i1")
    if places and updates is not None and places[:-1] != updates[: len(places) - 1]:
        yield f"indices {format_shape(places)}, updates {format_shape(updates)}"


def _boxes(op: PreparedOperator) -> Iterator[str]:
    boxes, scores = op.shape("i0"), op.shape("i1")
    if boxes is not None and len(boxes) == 2:
        if boxes[1] != 4:
            yield f"{op.describe('i0')} is {format_shape(boxes)}; a box has 4 values"
        elif scores is not None and scores != boxes[:1]:
            yield f"{boxes[0]} boxes, scores {format_shape(scores)}"


_RANKS: dict[str, tuple[Check, ...]] = {
    "TRANSPOSE": (_entries("i1", "i0"),),
    "PAD": (_entries("i1", "i0", times=2),),
    "PADV2": (_entries("i1", "i0", times=2),),
    "MIRROR_PAD": (_entries("i1", "i0", times=2),),
    "TILE": (_entries("i1", "i0"),),
    "SLICE": (_entries("i1", "i0"), _entries("i2", "i0")),
    "REVERSE_V2": (_entries("i1", "i0", exact=False),),
    "REDUCE_WINDOW": (_entries("i2", "i0"), _entries("i3", "i0"), _entries("i4", "i0")),
    "DILATE": (_entries("i1", "i0"),),
    "DYNAMIC_UPDATE_SLICE": (_entries("i2", "i0"), _same_rank("i1")),
    "SPACE_TO_BATCH_ND": (_blocks,),
    "BATCH_TO_SPACE_ND": (_blocks,),
    "ADD_N": (_same_rank("i*"),),
    "ATAN2": (_same_rank("i1"),),
    "CONCATENATION": (_same_rank("i*"),),
    "PACK": (_same_rank("i*"),),
}
_SHAPES: dict[str, Check] = {
    "CONV_2D": _conv,
    "DEPTHWISE_CONV_2D": _depthwise,
    "SPACE_TO_DEPTH": _blocks_of_pixels,
    "TRANSPOSE_CONV": _transpose_conv,
    "CONV_3D": _conv_3d,
    "FULLY_CONNECTED": _dense,
    "BATCH_MATMUL": _matmul,
    "CONCATENATION": _joined,
    "PACK": _packed,
    "RESHAPE": _reshaped,
    "SPLIT": _even,
    "RNN": _rnn,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _rnn,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "SVDF": _svdf,
    "MUL": _broadcast,
    "STRIDED_SLICE": _cut,
    "RESIZE_BILINEAR": _two_values("i1"),
    "RESIZE_NEAREST_NEIGHBOR": _two_values("i1"),
    "RFFT2D": _two_values("i1"),
    "EMBEDDING_LOOKUP": _spare_bytes("i1"),
    "HASHTABLE_LOOKUP": _spare_bytes("i2"),
    "SQUEEZE": _spare_bytes("i0"),
    "EXPAND_DIMS": _spare_bytes("i0"),
    "ASSIGN_VARIABLE": _spare_bytes("i1"),
    "BITCAST": _spare_bytes("i0"),
    "DYNAMIC_UPDATE_SLICE": _update,
    "ADD_N": _packed,
    "SCATTER_ND": _scattered,
    "NON_MAX_SUPPRESSION_V4": _boxes,
    "NON_MAX_SUPPRESSION_V5": _boxes,
}
