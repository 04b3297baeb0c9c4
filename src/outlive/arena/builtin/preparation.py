"""The kernels of a subgraph prepared one after the other, as the runtime does before it places any tensor.

    tensors as loaded ──> kernel by kernel: shapes, places, temporaries ──> Prepared (stages of operators)

The runtime stops at the first operator whose output's size it cannot know, and goes on from there when the
model runs (PrepareOpsStartingAt: LiteRT, tflite/core/subgraph.cc). Each such stretch is a stage here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from outlive.arena.plan import Bound
from outlive.kernels.litert.kernel import PreparedOutputs, Slots
from outlive.kernels.litert.registry import (
    invoked_outputs,
    kernel_of,
    prepared_outputs,
    temporaries_of,
    unshaped_outputs,
)
from outlive.kernels.litert.tensor_table import UNSIZED, TensorTable, Where
from outlive.kernels.litert.view import InvokeView, PrepareView
from outlive.model import Operator, Subgraph

# How an operator that calls other subgraphs is prepared; None leaves it to the rules of shapes.
Caller = Callable[["Preparation", int], PreparedOutputs | None]


@dataclass(slots=True)
class ExecutionNode:
    """An operator in the order of execution, with the tensors it is left with after Prepare."""

    operator: Operator
    raw_inputs: tuple[int, ...]  # -1 where one is left out
    raw_outputs: tuple[int, ...]
    temporaries: tuple[int, ...] = ()

    @property
    def inputs(self) -> tuple[int, ...]:
        """The inputs that are there."""
        return tuple(tensor for tensor in self.raw_inputs if tensor >= 0)

    @property
    def outputs(self) -> tuple[int, ...]:
        """The outputs that are there."""
        return tuple(tensor for tensor in self.raw_outputs if tensor >= 0)

    @property
    def first_output(self) -> int:
        """The first output; -1 if it is left out."""
        return self.raw_outputs[0] if self.raw_outputs else -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Something that is not known, in words; `shapes` if the runtime's shapes would settle it."""

    words: str
    shapes: bool = False
    bound: Bound = "lower"


@dataclass(slots=True)
class Preparation:
    """A subgraph while its kernels are prepared, and after."""

    subgraph: Subgraph
    table: TensorTable
    nodes: list[ExecutionNode]
    inputs: tuple[int, ...]  # -1 where one that is never read was dropped
    outputs: tuple[int, ...]
    threads: int = 1
    reference: bool = False
    slots: list[Slots] = field(default_factory=list)
    stages: list[tuple[int, int]] = field(default_factory=list)
    dynamic: bool = False  # has_dynamic_tensors_
    waits: list[int] = field(default_factory=list)  # operators whose output's size depends on data
    doubts: list[Doubt] = field(default_factory=list)
    # As things were after the first stage, when lifetimes are counted.
    nodes_then: tuple[ExecutionNode, ...] = ()
    bytes_then: list[int] = field(default_factory=list)
    where_then: list[Where] = field(default_factory=list)

    def prepare(self, caller: Caller) -> None:
        """Prepare all operators, stage by stage."""
        self.dynamic = any(self.table.where[tensor] == "dynamic" for tensor in self.outputs if tensor >= 0)
        first = 0
        for index in range(len(self.nodes)):
            stops = self._prepare_node(index, caller)
            if stops:
                self._close_stage(first, index)
                first = index + 1
            self._foresee(index, stops)
        if first < len(self.nodes) or not self.nodes:
            self._close_stage(first, max(len(self.nodes) - 1, 0))

    def _close_stage(self, first: int, last: int) -> None:
        if not self.stages:
            self.nodes_then = tuple(self.nodes)
            self.bytes_then = list(self.table.bytes)
            self.where_then = list(self.table.where)
            # The runtime prepares no further before it runs: what it gives for the rest is the file's.
            tensors = self.table.tensors
            self.table.given = {
                tensor: shape
                for tensor, shape in self.table.given.items()
                if 0 <= tensor < len(tensors) and shape != tensors[tensor].shape
            }
        self.stages.append((first, last))

    def _prepare_node(self, index: int, caller: Caller) -> bool:
        """Prepare one operator; True if preparing must stop behind it."""
        table, view = self.table, self.view(index)
        outputs = caller(self, index)
        if outputs is None:
            outputs = prepared_outputs(view)
        if outputs is None:
            self._doubt_shapes(index)
            outputs = unshaped_outputs(view)
        kernel = kernel_of(view.operator.name)
        for tensor in () if kernel.persistent_inputs is None else kernel.persistent_inputs(view):
            table.where[tensor] = "persistent"
        node = self.nodes[index]  # the caller may have changed it
        if any(table.where[tensor] == "constant" for tensor in node.outputs):
            words = f"{self.name_of(index)}: it writes to a constant"
            self.doubts.append(Doubt(words=words, bound="estimate"))
        for tensor, output in zip(node.raw_outputs, outputs, strict=False):
            if tensor >= 0:
                table.apply(tensor, output)
        self.slots.append(self._temporaries(index, view))
        undecided = any(output.undecided for _, output in zip(node.raw_outputs, outputs, strict=False))
        dynamic = [tensor for tensor in node.outputs if table.where[tensor] == "dynamic"]
        if undecided or any(table.dtypes[tensor] not in UNSIZED for tensor in dynamic):
            self.waits.append(index)
        self.dynamic |= undecided or bool(dynamic)
        return undecided or bool(dynamic)

    def _foresee(self, index: int, stops: bool) -> None:
        """What follows from shapes though the runtime learns it only by running: for those behind it."""
        node = self.nodes[index]
        outcomes = invoked_outputs(InvokeView(node.operator, self.table)) or ()
        pairs = [(t, o) for t, o in zip(node.raw_outputs, outcomes, strict=False) if t >= 0]
        for tensor, outcome in pairs:
            if outcome.values is not None:
                self.table.foreseen[tensor] = outcome.values
            if stops and outcome.shape is not None:
                self.table.resize(tensor, outcome.shape)
        shaped = pairs and all(outcome.shape is not None for _, outcome in pairs)
        if stops and shaped and self.waits[-1:] == [index]:
            self.waits.pop()

    def view(self, index: int) -> PrepareView:
        """An operator as its kernel sees it."""
        operator = self.nodes[index].operator
        return PrepareView(operator, self.table, threads=self.threads, reference=self.reference)

    def _temporaries(self, index: int, view: PrepareView) -> Slots:
        slots = temporaries_of(view)
        if slots is None:
            words = f"{self.name_of(index)}: the temporaries of its kernel are not known"
            self.doubts.append(Doubt(words=words))
        return slots or Slots()

    def _doubt_shapes(self, index: int) -> None:
        """The file's shapes are taken; unless the runtime gave them, they may be wrong."""
        missing = [t for t in self.nodes[index].outputs if t not in self.table.given]
        if missing:
            words = f"{self.name_of(index)}: the shape of its output is taken from the file"
            # Behind an output whose size depends on data, the runtime does not know the shapes either.
            self.doubts.append(Doubt(words=words, shapes=not self.waits))

    def name_of(self, index: int) -> str:
        """An operator as it is named in words."""
        where = f" of subgraph {self.subgraph.index}" if self.subgraph.index else ""
        return f"op {index} {self.nodes[index].operator.name}{where}"


def begin(subgraph: Subgraph, table: TensorTable, threads: int, reference: bool) -> Preparation:
    """A subgraph as it is loaded, ready to be prepared; indices outside the file count as left out."""
    count = len(subgraph.tensors)

    def inside(indices: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(index if 0 <= index < count else -1 for index in indices)

    nodes = [
        ExecutionNode(operator, inside(operator.inputs), inside(operator.outputs))
        for operator in subgraph.operators
    ]
    # What a delegate has room for and does not write to stands among its intermediates.
    delegates = (operator for operator in subgraph.operators if operator.type == "DELEGATE")
    table.unwritten.update(tensor for operator in delegates for tensor in operator.intermediates)
    return Preparation(
        subgraph=subgraph,
        table=table,
        nodes=nodes,
        inputs=inside(subgraph.input_indices),
        outputs=inside(subgraph.output_indices),
        threads=threads,
        reference=reference,
    )
