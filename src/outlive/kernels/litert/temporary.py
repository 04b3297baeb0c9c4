"""What a kernel asks for beside its inputs and outputs, and the view of an operator it is worked out from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from outlive.model import Operator, Tensor
from outlive.units import tensor_bytes

# Where the runtime keeps a temporary: kTfLiteArenaRw, kTfLiteArenaRwPersistent, kTfLiteDynamic or
# kTfLitePersistentRo (both heap), or a slot that was added and never filled.
Where = Literal["arena", "persistent", "heap", "empty"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Temporary:
    """One tensor slot a kernel adds behind the model's own, in the order it adds them.

    One that is filled `at_invoke` has no memory until the kernel first runs, then at most these bytes. One
    that is not `written` is reserved for a way of computing that the kernel does not take here.
    """

    size_bytes: int
    where: Where = "arena"
    name: str = ""
    at_invoke: bool = False
    written: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """All slots a kernel adds, and which of them are this node's (in the order of `node->temporaries`).

    `at_init` are added when the node is made (Init, before any node is prepared), `at_prepare` when it is
    prepared. `order` gives the node's temporaries as indices into `at_init + at_prepare`; None is all.
    """

    at_init: tuple[Temporary, ...] = ()
    at_prepare: tuple[Temporary, ...] = ()
    order: tuple[int, ...] | None = None


def _none(index: int) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """An operator as its kernel's Prepare sees it: shapes as they are then, what is constant, how it runs."""

    operator: Operator
    tensors: Sequence[Tensor]
    shapes: Sequence[tuple[int, ...]]
    constant: Callable[[int], bool]  # IsConstantTensor: kTfLiteMmapRo
    constant_or_persistent: Callable[[int], bool]  # IsConstantOrPersistentTensor
    threads: int
    reference: bool = False  # the reference kernels, not the optimised ones
    arena_persistent: Callable[[int], bool] = _none  # kTfLiteArenaRwPersistent

    def input(self, position: int) -> Tensor | None:
        """The tensor at a position of the operator's inputs; None if it was left out."""
        return self._tensor(self.operator.inputs, position)

    def output(self, position: int) -> Tensor | None:
        """The tensor at a position of the operator's outputs."""
        return self._tensor(self.operator.outputs, position)

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        """The shape at Prepare."""
        return self.shapes[tensor.index]

    def bytes(self, tensor: Tensor) -> int:
        """The bytes at Prepare; 0 where they are not fixed."""
        return tensor_bytes(self.shapes[tensor.index], tensor.dtype) or 0

    def _tensor(self, indices: tuple[int, ...], position: int) -> Tensor | None:
        index = indices[position] if position < len(indices) else -1
        return self.tensors[index] if 0 <= index < len(self.tensors) else None


# A formula gives the slots of an operator, or None where it is not known (the plan is then a stated bound).
Formula = Callable[[Situation], Slots | None]
