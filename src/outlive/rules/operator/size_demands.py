"""Tensors with no elements where a kernel needs some: LiteRT, tflite/kernels/*.cc."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from outlive.rules.operator.prepared import PreparedOperator
from outlive.units import format_shape

_SCALARS = ("i0", "i1", "i2")
_WEIGHTS = ("i0", "i1", "i2")
# Slots in which the kernel takes the first element, divides by a side, or checks that sides are positive.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "REVERSE_V2": ("i1",),
    "SKIP_GRAM": ("i0",),
    "STABLEHLO_GATHER": ("i0", "i1"),
    "CONV_2D": ("i0", "i1"),
    "DEPTHWISE_CONV_2D": ("i0", "i1"),
    "TRANSPOSE_CONV": ("i0", "i1", "i2"),
    "CONV_3D": ("i0", "i1"),
    "CONV_3D_TRANSPOSE": ("i0", "i1", "i2"),
    "ATAN2": ("i0", "i1"),
    "LOG_SOFTMAX": ("i0",),
    "UNPACK": ("i0",),
    "SPLIT": ("i0",),
    "SPLIT_V": ("i1", "i2"),
    "EXPAND_DIMS": ("i1",),
    "ARG_MAX": ("i1",),
    "ARG_MIN": ("i1",),
    "CUMSUM": ("i1",),
    "TOPK_V2": ("i1",),
    "ONE_HOT": ("i1", "i2", "i3"),
    "RANGE": _SCALARS,
    "FILL": ("i1",),
    "PADV2": ("i2",),
    "RESIZE_BILINEAR": ("i0", "i1"),
    "RESIZE_NEAREST_NEIGHBOR": ("i0", "i1"),
    "EMBEDDING_LOOKUP": ("i1",),
    "SVDF": _WEIGHTS,
    "RNN": _WEIGHTS,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _WEIGHTS,
    "BIDIRECTIONAL_SEQUENCE_RNN": _WEIGHTS,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": ("i0", "i2", "i3", "i4", "i6", "i7", "i8"),
    "BATCH_TO_SPACE_ND": ("i1",),
    "SPACE_TO_BATCH_ND": ("i1",),
    "DEPTH_TO_SPACE": ("i0",),
    "SPACE_TO_DEPTH": ("i0",),
    "AVERAGE_POOL_2D": ("i0",),
    "MAX_POOL_2D": ("i0",),
    "L2_POOL_2D": ("i0",),
    "MULTINOMIAL": ("i0", "i1"),
    "RFFT2D": ("i0", "i1"),
    "SEGMENT_SUM": ("i1",),
    "LSH_PROJECTION": ("i0", "i1"),
    "HASHTABLE_LOOKUP": ("i2",),
    "REDUCE_WINDOW": ("i1", "i2", "i3", "i4"),
    "STABLEHLO_PAD": ("i1",),
    "STABLEHLO_REDUCE_WINDOW": ("i1",),
    "STABLEHLO_SCATTER": ("i0", "i1"),
    "DILATE": ("i2",),
    "MATRIX_SET_DIAG": ("i1",),
}
_BATCHED = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"})
_RESIZED = frozenset({"RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"})


def empty_faults(op: PreparedOperator) -> Iterator[str]:
    """Slots that are empty and must not be, in words."""
    for slot in _NEEDED.get(op.operator.type, ()):
        shape = op.shape(slot)
        # An empty batch is nothing to do; sides and channels are divided by.
        sides = shape[1:] if shape and slot == "i0" and op.operator.type in _BATCHED else shape
        if shape and slot == "i0" and op.operator.type in _RESIZED:
            sides = shape[1:3]  # it picks among them, and without channels there is nothing to pick
        if shape is not None and sides is not None and 0 in sides:
            yield f"{op.describe(slot)} is {format_shape(shape)}; the kernel needs at least one element"


def vanished_faults(op: PreparedOperator) -> Iterator[str]:
    """Windows that leave nothing: XNNPACK reshapes no convolution to that."""
    shape = op.shape("o0") if op.operator.type in ("CONV_2D", "DEPTHWISE_CONV_2D") else None
    if shape is not None and min(shape[1:], default=1) <= 0:
        yield f"{op.describe('o0')} would be {format_shape(shape)}"
