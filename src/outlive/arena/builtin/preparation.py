"""The kernels of a subgraph prepared one after the other, as the runtime does before it places any tensor.

    tensors as loaded ──> kernel by kernel: shapes, places, temporaries ──> Prepared (stages of operators)

The runtime stops at the first operator whose output's size it cannot know, and goes on from there when the
model runs (PrepareOpsStartingAt: LiteRT, tflite/core/subgraph.cc). Each such stretch is a stage here.

Subgraphs that operators call: which are prepared with their caller, with which inputs, and what comes out.

WHILE, IF, STABLEHLO_CASE and STABLEHLO_COMPOSITE prepare and place the subgraphs they call when they are
prepared themselves; each has an arena of its own. CALL_ONCE does so when it first runs, and gives the arena
back (LiteRT, tflite/kernels/while.cc, if.cc, stablehlo_case.cc, stablehlo_composite.cc, call_once.cc).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from outlive.arena.plan import Bound, Question
from outlive.kernels.litert.kernel import PreparedOutputs, Slots
from outlive.kernels.litert.registry import (
    invoked_outputs,
    kernel_of,
    prepared_outputs,
    temporaries_of,
    unshaped_outputs,
)
from outlive.kernels.litert.tensor_table import UNSIZED, PreparedOutput, TensorTable, Where, open_table
from outlive.kernels.litert.view import InvokeView, PrepareView
from outlive.model import Model, Operator, Subgraph, Tensor

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


# What is passed: the caller's tensors, by position.
_Passed = Sequence[int]
_BRANCHING = {"IF": 1, "STABLEHLO_CASE": 1, "STABLEHLO_COMPOSITE": 0}  # inputs that choose the branch
_CALLING = frozenset({"WHILE", "CALL_ONCE", *_BRANCHING})
_HANDLES = frozenset({"resource", "variant"})
# A file may call in circles, or one subgraph from many places: beyond this it is not followed.
_DYNAMIC: PreparedOutputs = (PreparedOutput(where="dynamic"),)
_DEEPEST = 40
_MOST_ENTERED = 2000


@dataclass(slots=True)
class CalledSubgraphs:
    """All subgraphs that get memory: the main one, and those it calls, each prepared with what is passed."""

    model: Model
    question: Question
    prepared: dict[int, Preparation] = field(default_factory=dict)
    once: list[int] = field(default_factory=list)  # those of CALL_ONCE
    open: list[int] = field(default_factory=list)
    _entered: dict[tuple[object, ...], Preparation] = field(default_factory=dict)

    def enter_main(self) -> Preparation:
        """Prepare the main subgraph, and with it all it calls."""
        preparation = self._begin(0)
        self._finish(preparation)
        for index in tuple(self.once):
            if index not in self.prepared:
                self._finish(self._begin(index))
        return preparation

    def _begin(self, index: int) -> Preparation:
        given = {tensor: shape for (graph, tensor), shape in self.question.shapes.items() if graph == index}
        subgraph = self.model.subgraphs[index]
        threads = 1 if self.question.threads is None else self.question.threads
        return begin(subgraph, open_table(subgraph, given), threads, self.question.accelerator == "reference")

    def _finish(self, preparation: Preparation) -> None:
        index = preparation.subgraph.index
        self.open.append(index)
        preparation.prepare(self.call)
        self.open.pop()
        self.prepared[index] = preparation

    def call(self, caller: Preparation, index: int) -> PreparedOutputs | None:
        """What an operator that calls subgraphs makes of its outputs; None for any other."""
        node = caller.nodes[index]
        kind = node.operator.type
        if kind not in _CALLING:
            return None
        called = node.operator.subgraphs()
        if not self._may_enter(called):
            words = f"{caller.name_of(index)}: the subgraphs it calls cannot be planned"
            caller.doubts.append(Doubt(words=words))
            return ()
        if kind == "CALL_ONCE":
            self.once += called
            return ()
        if kind == "WHILE":
            return self._loop(caller, index, called) if len(called) == 2 else ()
        passed = node.raw_inputs[_BRANCHING[kind] :]
        return _merge([self._enter(each, caller, passed, drop_unread=True, lend=True) for each in called])

    def _may_enter(self, called: tuple[int, ...]) -> bool:
        known = range(len(self.model.subgraphs))
        room = len(self.open) < _DEEPEST and len(self._entered) < _MOST_ENTERED
        return bool(called) and room and all(each in known and each not in self.open for each in called)

    def _loop(self, caller: Preparation, index: int, called: tuple[int, ...]) -> PreparedOutputs:
        condition, body = _loop_parts(caller, index, called)
        node = caller.nodes[index]
        self._enter(condition, caller, node.raw_inputs, drop_unread=True, lend=False)
        self._drop_unread_outputs(caller, index, body)
        inner = self._enter(body, caller, node.raw_inputs, drop_unread=False, lend=True)
        for _, value, _ in tuple(list_parts(inner)):
            joined = inner.outputs[inner.inputs.index(value)]
            inner.table.resize(joined, inner.table.shapes[value])
        pairs = list(zip(inner.inputs, inner.outputs, strict=False))
        shapes = inner.table.shapes
        if inner.dynamic or any(_grows(shapes[a], shapes[b]) for a, b in pairs if a >= 0 and b >= 0):
            return _DYNAMIC * len(node.raw_outputs)
        return tuple(PreparedOutput(shape=shapes[b]) if b >= 0 else PreparedOutput() for b in inner.outputs)

    def _drop_unread_outputs(self, caller: Preparation, index: int, body: int) -> None:
        """An output that is passed through unchanged and never read gets no memory."""
        subgraph = self.model.subgraphs[body]
        node = caller.nodes[index]
        read = {tensor for each in caller.nodes for tensor in each.inputs} | set(caller.outputs)
        pairs = zip(subgraph.input_indices, subgraph.output_indices, node.raw_outputs, strict=False)
        outputs = tuple(
            -1 if came == went and out not in read and _has_memory(subgraph.tensors, came) else out
            for came, went, out in pairs
        )
        caller.nodes[index] = replace(node, raw_outputs=outputs + node.raw_outputs[len(outputs) :])

    def _enter(
        self, index: int, caller: Preparation, passed: _Passed, *, drop_unread: bool, lend: bool
    ) -> Preparation:
        """Prepare a called subgraph; `lend` if its inputs lie in the caller's memory."""
        shapes = tuple((caller.table.shapes[t], caller.table.dtypes[t]) for t in passed if t >= 0)
        key = (index, tuple(passed), shapes, drop_unread, lend)
        if key in self._entered:
            return self._entered[key]
        inner = self._begin(index)
        if drop_unread:
            read = {tensor for each in inner.nodes for tensor in each.inputs} | set(inner.outputs)
            inner.inputs = tuple(tensor if tensor in read else -1 for tensor in inner.inputs)
        for source, target in zip(passed, inner.inputs, strict=False):
            if source < 0 or target < 0:
                continue
            inner.table.dtypes[target] = caller.table.dtypes[source]
            inner.table.resize(target, caller.table.shapes[source])
            if lend and caller.table.dtypes[source] not in _HANDLES:
                inner.table.where[target] = "custom"
        self._finish(inner)
        self._entered[key] = inner
        return inner


def list_parts(body: Preparation) -> Iterator[tuple[int, int, int]]:
    """Tensors of a loop's body that hold what lies before or behind an item of a list; that list; how often.

    A loop that sets item after item joins the slices before and behind it to a list of the same size, which
    is one of its values. Each slice is nearly the whole list at one time. The one before the item grows, into
    a piece of memory that is there beside the last (TfLiteTensorResizeMaybeCopy: tflite/core/c/common.cc).
    """
    values = dict(zip(body.outputs, body.inputs, strict=False))
    joined: dict[int, set[int]] = {}
    for node in body.nodes:
        if node.operator.type in ("CONCATENATION", "DELEGATE"):
            made = {values[tensor] for tensor in node.outputs if tensor in values}
            for tensor in node.inputs:
                joined.setdefault(tensor, set()).update(made - {-1})
    for index in body.waits:
        node = body.nodes[index]
        if node.operator.type == "SLICE" and len(node.inputs) == 3 and node.outputs:
            part, value = node.outputs[0], node.inputs[0]
            if value in joined.get(part, ()):
                yield part, value, 2 if body.table.known(node.inputs[1]) else 1


def _loop_parts(caller: Preparation, index: int, called: tuple[int, ...]) -> tuple[int, int]:
    options = caller.nodes[index].operator.options
    condition = options.get("cond_subgraph_index") if options is not None else None
    body = options.get("body_subgraph_index") if options is not None else None
    return (
        condition if isinstance(condition, int) else called[0],
        body if isinstance(body, int) else called[1],
    )


def _has_memory(tensors: Sequence[Tensor], tensor: int) -> bool:
    """True if a tensor is neither a handle nor text."""
    return 0 <= tensor < len(tensors) and tensors[tensor].dtype not in (*_HANDLES, "string")


def _grows(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """True if a loop's value changes its shape: its size is then not known before it runs."""
    if before == after:
        return False
    return (before[0] if before else 0) + (after[0] if after else 0) != 1


def _merge(branches: list[Preparation]) -> PreparedOutputs:
    """Outputs of a choice: as the first branch's, if all branches agree and none is dynamic."""
    shapes = [tuple(branch.table.shapes[t] if t >= 0 else () for t in branch.outputs) for branch in branches]
    if any(branch.dynamic for branch in branches) or any(other != shapes[0] for other in shapes):
        return _DYNAMIC * len(shapes[0])
    return tuple(PreparedOutput(shape=shape) for shape in shapes[0])
