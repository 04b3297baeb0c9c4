"""Which tensors are filled, by whom, and which are written where they must not be.

Sources: LiteRT, tflite/arena_planner.cc (what nothing writes gets no memory), tflite/core/subgraph.cc
(AllocateTensors, ResetVariableTensors), tflite/kernels/kernel_util.cc (GetVariableInput).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from outlive.model import Model, Subgraph, Tensor
from outlive.rules.operator.prepared import PreparedOperator, operators_of

# Kernels that look at the shape only.
_READS_NO_VALUE = frozenset({"SHAPE", "RANK", "ZEROS_LIKE"})
# CheckInputAndOutputForOverlap lets operators without options through; these then do no harm.
_IN_PLACE = frozenset(
    {"ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOG", "LOGICAL_AND", "LOGICAL_NOT",
     "LOGICAL_OR", "LOGISTIC", "LOG_SOFTMAX", "MAXIMUM", "MINIMUM", "NEG", "POW", "PRELU", "RELU", "RELU6",
     "RELU_0_TO_1", "RELU_N1_TO_1", "ROUND", "RSQRT", "SELECT", "SIGN", "SIN", "SQRT", "SQUARE",
     "SQUARED_DIFFERENCE", "TANH"}
)  # fmt: skip
# Inputs that keep a state from run to run and must be variable tensors.
STATE_SLOTS: Mapping[str, tuple[int, ...]] = {
    "SVDF": (4,),
    "RNN": (4,),
    "UNIDIRECTIONAL_SEQUENCE_RNN": (4,),
    "BIDIRECTIONAL_SEQUENCE_RNN": (4, 8),
    "LSTM": (18, 19),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (18, 19),
    "BIDIRECTIONAL_SEQUENCE_LSTM": (35, 36, 37, 38),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfilled:
    """A tensor that is read and that nothing fills, the operator that reads it, and who may be to blame."""

    tensor: Tensor
    reader: PreparedOperator
    strays: tuple[Tensor, ...]  # inputs of the subgraph that no caller can fill
    stray_writer: PreparedOperator | None  # an operator that writes over a constant instead
    overwriter: PreparedOperator | None  # an operator that writes over its own input instead


def by_subgraph(model: Model) -> dict[int, list[PreparedOperator]]:
    """The operators of each subgraph."""
    found: dict[int, list[PreparedOperator]] = {subgraph.index: [] for subgraph in model.subgraphs}
    for op in operators_of(model):
        found[op.subgraph.index].append(op)
    return found


def unfilled(model: Model) -> Iterator[Unfilled]:
    """Tensors that are read and that nothing fills; each once."""
    cast = by_subgraph(model)
    for subgraph in model.subgraphs:
        rows = cast[subgraph.index]
        written = {tensor for op in rows for tensor in op.operator.outputs}
        filled = written | set(subgraph.input_indices)
        lost = {t.index for t in subgraph.tensors if t.index not in filled and not _has_memory(t)}
        if lost:
            yield from _readers(subgraph, rows, lost, written)


def _has_memory(tensor: Tensor) -> bool:
    return tensor.is_constant or tensor.is_variable or 0 in tensor.shape


def _readers(
    subgraph: Subgraph, rows: Sequence[PreparedOperator], lost: set[int], written: set[int]
) -> Iterator[Unfilled]:
    read = {tensor for op in rows for tensor in op.operator.inputs}
    strays = tuple(
        tensor
        for tensor in subgraph.inputs
        if tensor.index in written or tensor.is_constant or tensor.index not in read
    )
    writer = next((op for op in rows if any(_constant(op, t) for t in op.operator.outputs)), None)
    overwriter = next((op for op in rows if shared_ends(op)), None)
    for op in rows:
        # A custom operator may know what to do with such a tensor.
        if op.operator.type in _READS_NO_VALUE or op.operator.is_custom:
            continue
        states = STATE_SLOTS.get(op.operator.type, ())
        for position, tensor in enumerate(op.operator.inputs):
            if tensor in lost and position not in states:
                lost.discard(tensor)
                yield Unfilled(
                    tensor=subgraph.tensors[tensor],
                    reader=op,
                    strays=strays,
                    stray_writer=writer,
                    overwriter=overwriter,
                )


def _constant(op: PreparedOperator, tensor: int) -> bool:
    return op.table.constant(tensor)


def overwritten_constants(op: PreparedOperator) -> list[str]:
    """Outputs that lie in the file's own bytes."""
    return [slot for slot in op.slots("o*") if (t := op.tensor(slot)) is not None and _constant(op, t.index)]


def constant_inputs(model: Model) -> Iterator[tuple[PreparedOperator, Tensor]]:
    """Inputs of the model that are constants, each with the first operator that reads it."""
    first: dict[int, PreparedOperator] = {}
    for op in operators_of(model):
        if op.subgraph.index == 0:
            for tensor in op.operator.inputs:
                first.setdefault(tensor, op)
    for item in model.inputs:
        reader = first.get(item.index)
        if reader is not None and _constant(reader, item.index):
            yield reader, item


def shared_ends(op: PreparedOperator) -> list[str]:
    """Outputs that are inputs of the same operator."""
    inputs = {tensor for tensor in op.operator.inputs if tensor >= 0}
    return [slot for slot in op.slots("o*") if op.operator.outputs[int(slot[1:])] in inputs]


def aliased_outputs(op: PreparedOperator) -> Iterator[str]:
    """Outputs that are inputs of the same operator, in words."""
    yield from (f"{op.describe(slot)} is also an input" for slot in shared_ends(op))


def works_in_place(op: PreparedOperator) -> bool:
    """True if the kernel reads each element before it writes it, and all are of one shape."""
    shapes = {op.shape(slot) for slot in op.slots("i*") if op.tensor(slot) is not None}
    return op.operator.type in _IN_PLACE and len(shapes) == 1


def variable_faults(op: PreparedOperator) -> Iterator[str]:
    """States that are no variables, and variables that cannot be kept."""
    for position in STATE_SLOTS.get(op.operator.type, ()):
        tensor = op.tensor(f"i{position}")
        if tensor is not None and not tensor.is_variable:
            yield f"{op.describe(f'i{position}')} is a state without the variable flag"
    for slot in op.slots("o*"):
        tensor = op.tensor(slot)
        if tensor is not None and tensor.is_variable and op.table.where[tensor.index] == "dynamic":
            yield f"{op.describe(slot)} has the variable flag and a dynamic size"
    for slot in op.slots("i*"):
        tensor = op.tensor(slot)
        if tensor is not None and tensor.is_variable and op.table.constant(tensor.index):
            yield f"{op.describe(slot)} has the variable flag and a constant value"
