"""Shapes that the runtime finds out only when the model runs, though they follow from those of the inputs.

A dimension that the file leaves open is read by SHAPE, taken apart, computed with, put together for RESHAPE.
The runtime prepares no further until it has run these operators; their numbers are few, and computed here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from outlive.kernels.litert.shapes.outcome import View
from outlive.kernels.litert.tensor_table import Values

_Two = Callable[[int, int], int]
# Operators on integers; DIV cuts off towards zero, as C++ does.
_PAIRS: dict[str, _Two] = {
    "ADD": operator.add,
    "SUB": operator.sub,
    "MUL": operator.mul,
    "DIV": lambda left, right: int(left / right),
    "FLOOR_DIV": operator.floordiv,
    "FLOOR_MOD": operator.mod,
    "MAXIMUM": max,
    "MINIMUM": min,
}
_UNCHANGED = frozenset({"CAST", "EXPAND_DIMS", "RESHAPE", "SQUEEZE"})


class Foresight(View):
    """An operator as its kernel finds it when it runs: values that follow from shapes are there by then."""

    __slots__ = ()

    def known(self, position: int) -> bool:
        """True if an input's value is there, or follows from what is."""
        return View.known(self, position) or self.index(position) in self.table.foreseen

    def constant(self, position: int) -> bool:
        """As for any value that is known: kernels that insist on a constant wait for the others."""
        return self.known(position)

    def open_dimension(self, tensor: int) -> bool:
        """When it runs, no dimension is open any more."""
        return False


def foreseen_values(view: Foresight) -> Values | None:
    """The integers in the first output; None where they do not follow from what is known."""
    name, count = view.operator.name, len(view.operator.inputs)
    if name in _PAIRS and count == 2:
        return _pairwise(_PAIRS[name], *(view.table.values(view.index(position)) for position in (0, 1)))
    if name in _UNCHANGED:
        return view.table.values(view.index(0))
    if name == "PACK" and not view.shape(0):
        parts = [view.table.values(view.index(position)) for position in range(count)]
        return None if None in parts else tuple(part[0] for part in parts if part)
    return None


def _pairwise(compute: _Two, left: Values | None, right: Values | None) -> Values | None:
    if not left or not right or len({len(left), len(right)} - {1}) > 1:
        return None
    size = max(len(left), len(right))
    rows = (row * size if len(row) == 1 else row for row in (left, right))
    try:
        return tuple(compute(a, b) for a, b in zip(*rows, strict=True))
    except ZeroDivisionError:
        return None
