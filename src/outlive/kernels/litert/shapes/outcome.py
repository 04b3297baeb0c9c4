"""An operator as a shape rule sees it, and what the rule says of an output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outlive.kernels.litert.tensor_table import Shape, TensorTable, Values, Where
from outlive.model import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What Prepare does to one output: None leaves a thing as it is."""

    shape: Shape | None = None
    where: Where | None = None
    dtype: str | None = None
    values: Values | None = None
    size_bytes: int | None = None  # where the kernel sets them apart from the shape
    undecided: bool = False  # kTfLiteOutputShapeNotKnown: preparing stops here


# The outcomes of the outputs, in their order; one alone stands for all of them.
Outcomes = tuple[Outcome, ...]


class Unsure(Exception):
    """A rule cannot say: a value it needs is not to be had, or the operator is not as its kernel wants it."""


@dataclass(frozen=True, slots=True)
class View:
    """One operator, with the tensors as they are when its kernel is prepared."""

    operator: Operator
    table: TensorTable

    def index(self, position: int) -> int:
        """The tensor at a position of the inputs; -1 if it is left out."""
        inputs = self.operator.inputs
        tensor = inputs[position] if position < len(inputs) else -1
        return tensor if 0 <= tensor < len(self.table.tensors) else -1

    def has(self, position: int) -> bool:
        """True if there is an input at this position."""
        return self.index(position) >= 0

    def shape(self, position: int) -> Shape:
        """The shape of an input."""
        return self.table.shapes[self._there(position)]

    def dtype(self, position: int) -> str:
        """The type of an input."""
        return self.table.dtypes[self._there(position)]

    def output_dtype(self, position: int) -> str:
        """The type of an output."""
        tensor = self.operator.outputs[position]
        return self.table.dtypes[tensor] if 0 <= tensor < len(self.table.tensors) else ""

    def constant(self, position: int) -> bool:
        """True if an input is a constant of the file."""
        return self.table.constant(self._there(position))

    def known(self, position: int) -> bool:
        """True if an input's value is there at Prepare."""
        return self.table.known(self._there(position))

    def values(self, position: int) -> Values:
        """The integers in an input whose value is there at Prepare."""
        found = self.table.values(self._there(position))
        if found is None:
            raise Unsure(f"the value of input {position} cannot be read")
        return found

    def number(self, name: str, default: int = 0) -> int:
        """An option that is a number or a yes or no."""
        value = self.operator.options.get(name) if self.operator.options is not None else None
        return int(value) if isinstance(value, (int, bool)) else default

    def text(self, name: str) -> str:
        """An option that is one of several names."""
        value = self.operator.options.get(name) if self.operator.options is not None else None
        return value if isinstance(value, str) else ""

    def numbers(self, name: str) -> Values:
        """An option that is a list of numbers."""
        value = self.operator.options.get(name) if self.operator.options is not None else None
        return tuple(int(item) for item in value) if isinstance(value, (tuple, list)) else ()

    def open_dimension(self, tensor: int) -> bool:
        """HasUnspecifiedDimension: the file's signature leaves a dimension open; a constant's is not read."""
        inside = 0 <= tensor < len(self.table.tensors) and not self.table.constant(tensor)
        return inside and self.table.tensors[tensor].is_dynamic

    def _there(self, position: int) -> int:
        tensor = self.index(position)
        if tensor < 0:
            raise Unsure(f"input {position} is missing")
        return tensor


Rule = Callable[[View], Outcomes]

DYNAMIC: Outcomes = (Outcome(where="dynamic"),)


def shaped(*shapes: Shape) -> Outcomes:
    """Outputs of these shapes, in the arena."""
    for shape in shapes:
        need(all(size >= 0 for size in shape))
    return tuple(Outcome(shape=shape) for shape in shapes)


def need(condition: bool) -> None:
    """What a kernel insists on; without it nothing can be said."""
    if not condition:
        raise Unsure("the operator is not as its kernel wants it")


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    axis = axis + rank if axis < 0 else axis
    need(0 <= axis < rank)
    return axis
