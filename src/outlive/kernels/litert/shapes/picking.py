"""Shapes of operators that pick elements, reduce, or make tensors out of numbers."""

from __future__ import annotations

import math

from outlive.kernels.litert.shapes.outcome import (
    DYNAMIC,
    Outcome,
    Outcomes,
    Rule,
    View,
    axis_of,
    need,
    shaped,
)
from outlive.kernels.litert.tensor_table import Shape, Values

# kMaxConstantOutputTensorSize: tflite/kernels/reduce.cc.
_MOST_CONSTANT_ELEMENTS = 8
_MOST_VALUES = 1024


def slice_of(view: View) -> Outcomes:
    """Left alone if the file fixes the output; else from begin and size: tflite/kernels/slice.cc."""
    target = view.operator.outputs[0]
    if not view.open_dimension(target) and view.table.shapes[target]:
        return (Outcome(),)
    if not (view.known(1) and view.known(2)) or view.open_dimension(view.index(0)):
        return DYNAMIC
    source, begins, sizes = view.shape(0), view.values(1), view.values(2)
    need(len(begins) == len(sizes) == len(source))
    return shaped(
        tuple(
            whole - begin if size == -1 else size
            for whole, begin, size in zip(source, begins, sizes, strict=True)
        )
    )


def gather(view: View) -> Outcomes:
    """Positions in place of one side; computed at Prepare if both are known: tflite/kernels/gather.cc."""
    source, positions = view.shape(0), view.shape(1)
    axis = axis_of(view.number("axis"), len(source))
    batched = view.number("batch_dims")
    batched = batched + len(positions) if batched < 0 else batched
    need(0 <= batched <= axis)
    shape = (*source[:axis], *positions[batched:], *source[axis + 1 :])
    if not (view.known(0) and view.known(1)):
        return (Outcome(shape=shape, dtype=view.dtype(0)),)
    values, picks = view.table.values(view.index(0)), view.table.values(view.index(1))
    picked = None
    if values is not None and picks is not None and len(source) == 1 and batched == 0:
        need(all(0 <= pick < len(values) for pick in picks))
        picked = tuple(values[pick] for pick in picks)
    return (Outcome(shape=shape, dtype=view.dtype(0), where="readonly", values=picked),)


def gather_nd(view: View) -> Outcomes:
    """An inner part for each row of indices: tflite/kernels/gather_nd.cc."""
    source, indices = view.shape(0), view.shape(1)
    need(bool(indices) and 0 <= indices[-1] <= len(source))
    return (Outcome(shape=(*indices[:-1], *source[indices[-1] :]), dtype=view.dtype(0)),)


def _reduced(view: View) -> Shape:
    source = view.shape(0)
    gone = {axis_of(axis, len(source)) for axis in view.values(1)} if source else set()
    if view.number("keep_dims"):
        return tuple(1 if axis in gone else size for axis, size in enumerate(source))
    return tuple(size for axis, size in enumerate(source) if axis not in gone)


def reduce(view: View) -> Outcomes:
    """Without the sides that are summed over: tflite/kernels/reduce.cc."""
    return shaped(_reduced(view)) if view.known(1) else DYNAMIC


def reduce_product(view: View) -> Outcomes:
    """As any reduction, but a small one of known values is computed at Prepare: tflite/kernels/reduce.cc."""
    if not view.known(1):
        return DYNAMIC
    shape = _reduced(view)
    if not view.known(0) or math.prod(shape) > _MOST_CONSTANT_ELEMENTS:
        return shaped(shape)
    values = view.table.values(view.index(0))
    whole = None if values is None or math.prod(shape) != 1 else (math.prod(values),)
    return (Outcome(shape=shape, where="readonly", values=whole),)


def argument(view: View) -> Outcomes:
    """One side less: tflite/kernels/arg_min_max.cc."""
    if not view.known(1):
        return DYNAMIC
    source = view.shape(0)
    axis = axis_of(view.values(1)[0], len(source))
    return shaped((*source[:axis], *source[axis + 1 :]))


def top_k(view: View) -> Outcomes:
    """The last side cut to k, twice: tflite/kernels/topk_v2.cc."""
    if not view.known(1) or view.open_dimension(view.index(0)):
        return DYNAMIC
    source = view.shape(0)
    need(bool(source))
    return shaped((*source[:-1], view.values(1)[0]))


def one_hot(view: View) -> Outcomes:
    """One more side, of the given depth: tflite/kernels/one_hot.cc."""
    if not view.known(1):
        return DYNAMIC
    source = view.shape(0)
    axis = view.number("axis", -1)
    axis = len(source) if axis == -1 else axis
    return shaped((*source[:axis], view.values(1)[0], *source[axis:]))


def fill(view: View) -> Outcomes:
    """As its first input says: tflite/kernels/fill.cc."""
    if not view.known(0):
        return DYNAMIC
    return (Outcome(shape=view.values(0), dtype=view.dtype(1)),)


def shape_of(view: View) -> Outcomes:
    """Known at Prepare, always: tflite/kernels/shape.cc."""
    source = view.shape(0)
    dtype = view.text("out_type").lower() or "int32"
    dtype = dtype if dtype in ("int32", "int64") else "int32"
    return (Outcome(shape=(len(source),), dtype=dtype, where="readonly", values=source),)


def rank_of(view: View) -> Outcomes:
    """Known at Prepare, always: tflite/kernels/rank.cc."""
    return (Outcome(shape=(), dtype="int32", where="readonly", values=(len(view.shape(0)),)),)


def ranged(view: View) -> Outcomes:
    """Computed at Prepare if all three numbers are known: tflite/kernels/range.cc."""
    if not all(view.known(position) for position in (0, 1, 2)):
        return DYNAMIC
    (start,), (limit,), (delta,) = view.values(0), view.values(1), view.values(2)
    need(delta != 0)
    steps = range(start, limit, delta)
    values: Values | None = tuple(steps) if len(steps) <= _MOST_VALUES else None
    return (Outcome(shape=(len(steps),), dtype=view.dtype(0), where="readonly", values=values),)


def broadcast_arguments(view: View) -> Outcomes:
    """The shape that two shapes stretch to: tflite/kernels/broadcast_args.cc."""
    longest = max(view.shape(0)[0], view.shape(1)[0])
    if not (view.known(0) and view.known(1)):
        return shaped((longest,))
    rows = [(1,) * (longest - len(view.values(p))) + view.values(p) for p in (0, 1)]
    values = tuple(b if a == 1 else a for a, b in zip(*rows, strict=True))
    return (Outcome(shape=(longest,), where="readonly", values=values),)


def where_true(view: View) -> Outcomes:
    """As many rows as there are true elements: tflite/kernels/where.cc."""
    if not view.known(0):
        return (Outcome(where="dynamic", dtype="int64"),)
    count = sum(1 for value in view.values(0) if value)
    return (Outcome(shape=(count, len(view.shape(0))), dtype="int64"),)


RULES: dict[str, Rule] = {
    "SLICE": slice_of,
    "GATHER": gather,
    "GATHER_ND": gather_nd,
    "MEAN": reduce,
    "SUM": reduce,
    "REDUCE_MAX": reduce,
    "REDUCE_MIN": reduce,
    "REDUCE_ANY": reduce,
    "REDUCE_ALL": reduce,
    "REDUCE_PROD": reduce_product,
    "ARG_MAX": argument,
    "ARG_MIN": argument,
    "TOPK_V2": top_k,
    "ONE_HOT": one_hot,
    "FILL": fill,
    "SHAPE": shape_of,
    "RANK": rank_of,
    "RANGE": ranged,
    "BROADCAST_ARGS": broadcast_arguments,
    "WHERE": where_true,
}
