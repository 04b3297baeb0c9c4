"""The shape of STRIDED_SLICE, with its five masks: LiteRT, tflite/kernels/strided_slice.cc."""

from __future__ import annotations

from dataclasses import dataclass

from outlive.kernels.litert.shapes.outcome import DYNAMIC, Outcome, Outcomes, Rule, View, need
from outlive.kernels.litert.tensor_table import Shape, Values

_MOST_INDICES = 31


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


def strided_slice(view: View) -> Outcomes:
    """Dynamic unless its indices are known; computed at Prepare if its input is known too."""
    if not (view.known(3) and (view.number("offset") or (view.known(1) and view.known(2)))):
        return DYNAMIC
    need(view.known(1) and view.known(2))
    sides = _sides(view, view.shape(0), (view.values(1), view.values(2), view.values(3)))
    shape = tuple(len(side.picks()) for side in sides if not side.gone)
    if not view.known(0):
        return (Outcome(shape=shape),)
    values = view.table.values(view.index(0))
    picked = None
    if values is not None and len(view.shape(0)) == 1 and len(sides) == 1:
        side = sides[0]
        picks = range(side.start, side.start + 1) if side.gone else side.picks()
        picked = tuple(values[pick] for pick in picks)
    return (Outcome(shape=shape, where="readonly", values=picked),)


def _sides(view: View, source: Shape, indices: tuple[Values, Values, Values]) -> list[_Side]:
    """Each index of the operator in turn: an ellipsis is many sides, a new axis none of the input's."""
    begins, ends, strides = indices
    need(len(begins) == len(ends) == len(strides) <= _MOST_INDICES)
    masks = {
        name: view.number(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    set_in = {name: [bool(mask >> i & 1) for i in range(len(begins))] for name, mask in masks.items()}
    need(sum(set_in["ellipsis"]) <= 1)
    added = sum(new and not dots for new, dots in zip(set_in["new_axis"], set_in["ellipsis"], strict=True))
    left = list(source)
    sides: list[_Side] = []
    for position in range(len(begins)):
        if set_in["ellipsis"][position]:
            spread = max(1, len(source) + added - len(begins) + 1)
            need(spread <= len(left))
            sides += [_Side(size, 0, size, 1) for size in left[:spread]]
            left = left[spread:]
        elif set_in["new_axis"][position]:
            sides.append(_Side(1, 0, 1, 1))
        else:
            need(bool(left))
            whole = set_in["begin"][position], set_in["end"][position]
            cut = begins[position], ends[position], strides[position]
            gone = set_in["shrink_axis"][position]
            if view.number("offset"):  # the end is a length
                need(cut[1] >= 0 and cut[2] > 0)
                sides.append(_Side(left.pop(0), 0, cut[1], cut[2], gone))
            else:
                sides.append(_cut(left.pop(0), cut, whole, gone))
    return sides + [_Side(size, 0, size, 1) for size in left]


def _cut(size: int, cut: tuple[int, int, int], whole: tuple[bool, bool], gone: bool) -> _Side:
    """StartForAxis and EndForAxis: tflite/kernels/internal/strided_slice_logic.h."""
    start, stop, stride = cut
    need(stride != 0)
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


RULES: dict[str, Rule] = {"STRIDED_SLICE": strided_slice}
