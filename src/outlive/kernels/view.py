"""One operator as a kernel sees it: its tensors by position, and its options.

Each runtime extends it: by shapes at Prepare (litert), by what the delegate unpacks (xnnpack), by the arena
that a kernel takes memory from (tflm).
"""

from collections.abc import Sequence
from typing import Generic, TypeVar

from outlive.model import Operator

Shape = tuple[int, ...]
Held = TypeVar("Held")  # how the runtime holds a tensor


class OperatorView(Generic[Held]):
    """An operator and the tensors of its subgraph."""

    __slots__ = ("operator", "tensors")

    def __init__(self, operator: Operator, tensors: Sequence[Held]) -> None:
        self.operator = operator
        self.tensors = tensors

    def input(self, position: int) -> Held | None:
        """The tensor at a position of the inputs; None if it is left out."""
        return self._at(self.operator.inputs, position)

    def output(self, position: int = 0) -> Held | None:
        """The tensor at a position of the outputs; None if it is left out."""
        return self._at(self.operator.outputs, position)

    def _at(self, indices: tuple[int, ...], position: int) -> Held | None:
        index = indices[position] if position < len(indices) else -1
        return self.tensors[index] if 0 <= index < len(self.tensors) else None

    def option(self, name: str, default: object = None) -> object:
        """An option as the file has it; the default where the operator has no options."""
        options = self.operator.options
        return default if options is None else options.get(name, default)

    def number(self, name: str, default: int = 0) -> int:
        """An option that is a whole number, or true or false."""
        value = self.option(name)
        return int(value) if isinstance(value, int) else default

    def text(self, name: str, default: str = "") -> str:
        """An option that is one of several names: a padding, an activation."""
        value = self.option(name)
        return value if isinstance(value, str) else default

    def numbers(self, name: str) -> tuple[int, ...]:
        """An option that is a list of whole numbers."""
        value = self.option(name)
        return tuple(int(item) for item in value) if isinstance(value, (tuple, list)) else ()
