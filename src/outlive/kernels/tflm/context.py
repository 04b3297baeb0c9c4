"""What a kernel's Prepare sees and may ask for: temporary tensors, buffers of the tail, scratch buffers.

Tensors as TFLM holds them while it prepares a model: shapes may change, pointers may be set.
"""

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from outlive.kernels.tflm.abi import Abi, SingleArena, int_array_bytes, size_of
from outlive.kernels.view import OperatorView
from outlive.model import Operator, Tensor

# TfLiteTypeSizeOf: tensorflow/lite/micro/memory_helpers.cc. Types that are absent have no size there.
TYPE_BYTES = {
    **dict.fromkeys(("bool", "int8", "uint8", "int4"), 1),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("float32", "int32", "uint32", "resource"), 4),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    "complex128": 16,
}

# A shape or an axis list longer than this is no sane model's; reading stops there.
_MOST_CONSTANTS = 4096
_FORMATS = {"int32": "i", "int64": "q"}


class MicroTensor:
    """TfLiteEvalTensor and the TfLiteTensor that a kernel's Prepare gets: type, present dims, quantization.

    Scales and zero points are there only where the file has both (AllocateTempTfLiteTensor).
    """

    __slots__ = ("axis", "dims", "has_data", "resource", "scales", "tensor", "type", "zero_points")

    def __init__(self, tensor: Tensor, dims: tuple[int, ...]) -> None:
        self.tensor = tensor
        self.type = tensor.dtype
        self.dims = dims
        self.has_data = is_constant(tensor)  # its data pointer is set
        self.resource: int | None = None  # the id a VAR_HANDLE wrote into it
        given = tensor.quantization
        whole = given is not None and given.scales and given.zero_points
        self.scales: tuple[float, ...] = given.scales if given is not None and whole else ()
        self.zero_points: tuple[int, ...] = given.zero_points if given is not None and whole else ()
        self.axis = given.axis if given is not None and whole else 0

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.dims)

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return count(self.dims)

    @property
    def quantized(self) -> bool:
        """True for kTfLiteAffineQuantization: scales and zero points are both there."""
        return bool(self.scales)

    @property
    def scale(self) -> float:
        """`params.scale`: the first scale, 0 without quantization."""
        return self.scales[0] if self.scales else 0.0

    @property
    def zero_point(self) -> int:
        """`params.zero_point`: the first one, 0 without quantization."""
        return self.zero_points[0] if self.zero_points else 0

    @property
    def constant(self) -> bool:
        """IsConstantTensor: the file carries its bytes."""
        return is_constant(self.tensor)

    @property
    def size_bytes(self) -> int | None:
        """Bytes with the present dims; None for a type TFLM has no size for."""
        width = TYPE_BYTES.get(self.type)
        return None if width is None else count(self.dims) * width

    @property
    def file_bytes(self) -> int:
        """`bytes`: what the file's shape makes, whatever Prepare did to the dims since."""
        return count(self.tensor.shape) * TYPE_BYTES.get(self.type, 0)

    def numbers(self) -> tuple[int, ...] | None:
        """The constant's values; None if it is not a constant of a type that can be read, or far too long."""
        form, buffer, elements = _FORMATS.get(self.type), self.tensor.buffer, self.elements
        if form is None or buffer is None or not 0 <= elements <= _MOST_CONSTANTS:
            return None
        wanted = elements * struct.calcsize(form)
        if not buffer.size_bytes or buffer.size_bytes < wanted:
            return None
        return struct.unpack_from(f"<{elements}{form}", buffer.part(0, wanted))


def is_constant(tensor: Tensor) -> bool:
    """True if TFLM finds bytes for it: GetFlatbufferTensorBuffer, micro_allocator.cc.

    A vector of no bytes is none there, and bytes kept behind the FlatBuffer are not looked for.
    """
    return tensor.buffer is not None and tensor.buffer.size_bytes > 0 and not tensor.buffer.outside


def count(dims: Sequence[int]) -> int:
    """Elements of a shape; a scalar has one."""
    return math.prod(dims[:64])


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
class MicroAllocation:
    """What all operators share while a model is prepared."""

    abi: Abi
    kernels: str
    arena: SingleArena
    tensors: Sequence[Sequence[MicroTensor]]  # by subgraph
    subgraph_inputs: Sequence[int]
    subgraph_outputs: Sequence[int]
    scratch: list[Scratch]
    resources: dict[tuple[str, str], int]  # ids of resource variables, by container and shared name
    assigned: set[int]  # resource variables that have their buffer


class MicroContext(OperatorView[MicroTensor]):
    """One operator in Init or Prepare. Every tensor looked at costs temporary bytes until it is done."""

    __slots__ = ("part", "shared", "subgraph")

    def __init__(self, shared: MicroAllocation, subgraph: int, operator: Operator) -> None:
        super().__init__(operator, shared.tensors[subgraph])
        self.shared = shared
        self.subgraph = subgraph
        self.part = PREPARE

    def input(self, position: int) -> MicroTensor:
        """An input that must be there."""
        found = super().input(position)
        return found if found is not None else self.refuse(f"input {position} is missing")

    def output(self, position: int = 0) -> MicroTensor:
        """An output that must be there."""
        found = super().output(position)
        return found if found is not None else self.refuse(f"output {position} is missing")

    def maybe_input(self, position: int) -> MicroTensor | None:
        """An input, None if it was left out."""
        return super().input(position)

    def maybe_output(self, position: int) -> MicroTensor | None:
        """An output, None if there is none at this position."""
        return super().output(position)

    def tensor(self, index: int) -> MicroTensor:
        """A tensor of this subgraph by its index, without a temporary (GetEvalInput, GetEvalOutput)."""
        if not 0 <= index < len(self.tensors):
            self.refuse(f"tensor {index} does not exist")
        return self.tensors[index]

    def keep(self, size_bytes: int) -> None:
        """AllocatePersistentBuffer."""
        self.shared.arena.keep_buffer(max(size_bytes, 0), self.part)

    def keep_struct(self, struct: str) -> None:
        """AllocatePersistentBuffer for a struct."""
        self.keep(size_of(struct, self.shared.abi))

    def scratch(self, size_bytes: int) -> None:
        """RequestScratchBufferInArena."""
        request = Scratch(size_bytes=size_bytes, subgraph=self.subgraph, op=self.operator.index)
        self.shared.scratch.append(request)

    def rewrite_dims(self, output: MicroTensor, dims: Sequence[int]) -> None:
        """Give an output dims of its own in the tail (CreateWritableTensorDimsWithCopy) and set them."""
        self.keep(int_array_bytes(output.rank))
        output.dims = tuple(dims)

    @property
    def fused(self) -> str:
        """The fused activation."""
        return self.text("fused_activation_function", "NONE")

    def counts(self, inputs: int | tuple[int, ...], outputs: int | None = 1) -> None:
        """Refuse unless the operator has this many inputs and outputs."""
        wanted = inputs if isinstance(inputs, tuple) else (inputs,)
        have = len(self.operator.inputs)
        self.require(have in wanted, f"it has {have} inputs, not {' or '.join(map(str, wanted))}")
        if outputs is not None:
            self.require(
                len(self.operator.outputs) == outputs,
                f"it has {len(self.operator.outputs)} outputs, not {outputs}",
            )

    def require(self, condition: bool, reason: str) -> None:
        """TF_LITE_ENSURE: refuse with a reason unless the condition holds."""
        if not condition:
            self.refuse(reason)

    def one_of(self, tensor: MicroTensor, role: str, *types: str) -> None:
        """Refuse unless the tensor's type is one of these."""
        if tensor.type not in types:
            self.refuse(f"{role} of type {tensor.type} is not supported, only {', '.join(types)}")

    def same_type(self, first: MicroTensor, second: MicroTensor, roles: str = "input and output") -> None:
        """Refuse unless two tensors are of one type."""
        if first.type != second.type:
            self.refuse(f"{roles} are {first.type} and {second.type}, not of one type")

    def constant(self, tensor: MicroTensor, role: str) -> tuple[int, ...]:
        """The values of a tensor that must be a constant."""
        self.require(tensor.constant, f"{role} is not a constant")
        return tensor.numbers() or ()

    def refuse(self, reason: str) -> NoReturn:
        """Stop: TFLM does not prepare this operator."""
        raise RefusedError(reason)

    def _at(self, indices: tuple[int, ...], position: int) -> MicroTensor | None:
        index = indices[position] if 0 <= position < len(indices) else -1
        if index < 0:
            return None
        found = self.tensor(index)
        if found.type not in TYPE_BYTES:
            self.refuse(f"tensors of type {found.type} are not supported")
        # AllocateTempTfLiteTensor: micro_allocator.cc
        arena = self.shared.arena
        arena.lend_struct("TfLiteTensor")
        if found.quantized:
            arena.lend_struct("TfLiteAffineQuantization")
            arena.lend(int_array_bytes(len(found.scales)), 4)
        return found


Step = Callable[[MicroContext], None]


@dataclass(frozen=True, slots=True)
class MicroKernel:
    """A kernel's Prepare (some have none), its Init, and the structs that tables/tflm.json gives it.

    `options` is the struct its options are parsed into, `init_struct` the one that a plain Init keeps.
    """

    prepare: Step | None = None
    init: Step | None = None
    options: str | None = None
    init_struct: str | None = None
