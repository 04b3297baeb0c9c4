"""What a kernel's Prepare sees and may ask for: temporary tensors, buffers of the tail, scratch buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from outlive.kernels.tflm.abi import Abi, int_array_bytes, size_of
from outlive.kernels.tflm.allocator import Arena
from outlive.kernels.tflm.tensors import TYPE_BYTES, EvalTensor, TempTensor, view
from outlive.model import Operator

MOST_SCRATCH_BUFFERS = 12  # kMaxScratchBuffersPerOp: micro_allocator.h
PREPARE = "kernel prepare"
INIT = "kernel init"


class RefusedError(Exception):
    """TFLM stops here: the reason, in words a user can act on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """A scratch buffer a kernel asked for; it lives while its operator runs."""

    size_bytes: int
    subgraph: int
    op: int


@dataclass(slots=True, kw_only=True)
class Workshop:
    """What all operators share while a model is prepared."""

    abi: Abi
    kernels: str
    arena: Arena
    tensors: Sequence[Sequence[EvalTensor]]  # by subgraph
    subgraph_inputs: Sequence[int]
    subgraph_outputs: Sequence[int]
    scratch: list[Scratch]
    resources: dict[tuple[str, str], int]  # ids of resource variables, by container and shared name
    assigned: set[int]  # resource variables that have their buffer
    guesses: list[str]  # what is not known to the byte, in words
    leaked: bool = False  # a kernel kept a temporary: no temporary comes back any more


class Preparation:
    """One operator in Init or Prepare. Every tensor looked at costs temporary bytes until it is done."""

    __slots__ = ("op", "part", "shop", "subgraph")

    def __init__(self, shop: Workshop, subgraph: int, op: Operator) -> None:
        self.shop = shop
        self.subgraph = subgraph
        self.op = op
        self.part = PREPARE

    def input(self, position: int) -> TempTensor:
        """An input that must be there."""
        found = self.maybe_input(position)
        return found if found is not None else self.refuse(f"input {position} is missing")

    def maybe_input(self, position: int) -> TempTensor | None:
        """An input, None if it was left out."""
        return self._temp(self.op.inputs, position)

    def output(self, position: int = 0) -> TempTensor:
        """An output that must be there."""
        found = self._temp(self.op.outputs, position)
        return found if found is not None else self.refuse(f"output {position} is missing")

    def maybe_output(self, position: int) -> TempTensor | None:
        """An output, None if there is none at this position."""
        return self._temp(self.op.outputs, position)

    def held(self, index: int) -> EvalTensor:
        """A tensor of this subgraph by its index, without a temporary (GetEvalInput, GetEvalOutput)."""
        tensors = self.shop.tensors[self.subgraph]
        if not 0 <= index < len(tensors):
            self.refuse(f"tensor {index} does not exist")
        return tensors[index]

    def keep(self, size_bytes: int) -> None:
        """AllocatePersistentBuffer."""
        self.shop.arena.keep_buffer(max(size_bytes, 0), self.part)

    def keep_struct(self, struct: str) -> None:
        """AllocatePersistentBuffer for a struct."""
        self.keep(size_of(struct, self.shop.abi))

    def scratch(self, size_bytes: int) -> None:
        """RequestScratchBufferInArena."""
        request = Scratch(size_bytes=size_bytes, subgraph=self.subgraph, op=self.op.index)
        self.shop.scratch.append(request)

    def rewrite_dims(self, output: TempTensor, dims: Sequence[int]) -> None:
        """Give an output dims of its own in the tail (CreateWritableTensorDimsWithCopy) and set them."""
        self.keep(int_array_bytes(output.rank))
        output.held.dims = tuple(dims)

    def option(self, name: str, default: int = 0) -> int:
        """An integer option of the operator."""
        value = None if self.op.options is None else self.op.options.get(name)
        return int(value) if isinstance(value, (int, float)) else default

    def word(self, name: str, default: str = "") -> str:
        """An option that is a word: an activation, a padding."""
        value = None if self.op.options is None else self.op.options.get(name)
        return value if isinstance(value, str) else default

    @property
    def fused(self) -> str:
        """The fused activation."""
        return self.word("fused_activation_function", "NONE")

    def counts(self, inputs: int | tuple[int, ...], outputs: int | None = 1) -> None:
        """Refuse unless the operator has this many inputs and outputs."""
        wanted = inputs if isinstance(inputs, tuple) else (inputs,)
        have = len(self.op.inputs)
        self.require(have in wanted, f"it has {have} inputs, not {' or '.join(map(str, wanted))}")
        if outputs is not None:
            self.require(
                len(self.op.outputs) == outputs, f"it has {len(self.op.outputs)} outputs, not {outputs}"
            )

    def require(self, condition: bool, reason: str) -> None:
        """TF_LITE_ENSURE: refuse with a reason unless the condition holds."""
        if not condition:
            self.refuse(reason)

    def one_of(self, tensor: TempTensor, role: str, *types: str) -> None:
        """Refuse unless the tensor's type is one of these."""
        if tensor.type not in types:
            self.refuse(f"{role} of type {tensor.type} is not supported, only {', '.join(types)}")

    def same_type(self, first: TempTensor, second: TempTensor, roles: str = "input and output") -> None:
        """Refuse unless two tensors are of one type."""
        if first.type != second.type:
            self.refuse(f"{roles} are {first.type} and {second.type}, not of one type")

    def constant(self, tensor: TempTensor, role: str) -> tuple[int, ...]:
        """The values of a tensor that must be a constant."""
        self.require(tensor.constant, f"{role} is not a constant")
        return tensor.numbers() or ()

    def refuse(self, reason: str) -> NoReturn:
        """Stop: TFLM does not prepare this operator."""
        raise RefusedError(reason)

    def _temp(self, indices: tuple[int, ...], position: int) -> TempTensor | None:
        index = indices[position] if 0 <= position < len(indices) else -1
        if index < 0:
            return None
        found = view(self.held(index))
        if found.type not in TYPE_BYTES:
            self.refuse(f"tensors of type {found.type} are not supported")
        self._lend(found)
        return found

    def _lend(self, tensor: TempTensor) -> None:
        # AllocateTempTfLiteTensor: micro_allocator.cc
        arena = self.shop.arena
        arena.lend_struct("TfLiteTensor")
        if tensor.quantized:
            arena.lend_struct("TfLiteAffineQuantization")
            arena.lend(int_array_bytes(len(tensor.scales)), 4)
