"""Temporaries of MEAN, SUM and the REDUCE_ operators: four slots, of which few are always filled."""

from __future__ import annotations

from collections.abc import Callable

from outlive.kernels.litert.temporaries.filling import (
    Shape,
    Unprepared,
    dims,
    elements,
    empty,
    needed,
    number,
    produced,
    slot,
    values,
)
from outlive.kernels.litert.temporary import Situation, Slots, Temporary, Where

# The type sums and products are kept in: InitializeTemporaries in tflite/kernels/reduce.cc.
_ACCUMULATOR = {
    "float32": "float32",
    "int32": "int64",
    "int64": "int64",
    "uint8": "int32",
    "int8": "int32",
    "int16": "int32",
    "bool": "bool",
}
# kMaxConstantOutputTensorSize: a product of constants with at most as many elements is computed at Prepare.
_MOST_CONSTANT_ELEMENTS = 8


def mean_or_sum(situation: Situation) -> Slots | None:
    """Index, axes, sums of the output's size, and the shape: PrepareMeanOrSum in tflite/kernels/reduce.cc."""
    return _four(situation, _accumulator)


def product(situation: Situation) -> Slots | None:
    """As a sum, but all on the heap where it is computed at Prepare: PrepareProd."""
    return _four(situation, _accumulator, at_prepare=is_constant_product(situation))


def extreme(situation: Situation) -> Slots | None:
    """Without sums; the third slot is never filled: PrepareSimple and PrepareAllOrAny."""
    return _four(situation, lambda _situation, _where, _late: empty())


def is_constant_product(situation: Situation) -> bool:
    """True if a product is computed at Prepare: of constants, with few elements."""
    known = all(situation.constant_or_persistent(needed(situation, position).index) for position in (0, 1))
    return known and elements(reduced_shape(situation)) <= _MOST_CONSTANT_ELEMENTS


def reduced_shape(situation: Situation) -> tuple[int, ...]:
    """The output's shape, from the axes where the file has them."""
    source, axis = needed(situation, 0), needed(situation, 1)
    shape = dims(situation, source)
    axes = values(axis) if situation.constant(axis.index) else None
    if axes is None:
        return tuple(max(size, 0) for size in situation.shape(produced(situation, 0)))
    gone = {each + len(shape) if each < 0 else each for each in axes}
    if number(situation, "keep_dims"):
        return tuple(1 if index in gone else size for index, size in enumerate(shape))
    return tuple(size for index, size in enumerate(shape) if index not in gone)


def _accumulator(situation: Situation, where: Where, late: bool) -> Temporary:
    dtype = _ACCUMULATOR[needed(situation, 0).dtype]
    return slot((elements(reduced_shape(situation)),), dtype, where, name="temp_accum", at_invoke=late)


def _four(
    situation: Situation, accumulator: Callable[[Situation, Where, bool], Temporary], at_prepare: bool = False
) -> Slots:
    source, axis = needed(situation, 0), needed(situation, 1)
    rank: Shape = (len(dims(situation, source)),)
    if source.dtype not in _ACCUMULATOR:
        raise Unprepared(f"cannot reduce {source.dtype}")
    late = not situation.constant_or_persistent(axis.index)
    dynamic: Where = "heap" if late or at_prepare else "arena"
    axes = (elements(dims(situation, axis)),)
    constant = situation.constant_or_persistent(source.index)
    shape_home: Where = "heap" if not constant or at_prepare else "arena"
    return Slots(
        at_prepare=(
            slot(rank, "int32", name="index"),
            slot(axes, "int32", dynamic, name="resolved_axis", at_invoke=late),
            accumulator(situation, dynamic, late),
            slot(rank, "int32", shape_home, name="normalized_dims", at_invoke=not constant),
        )
    )
