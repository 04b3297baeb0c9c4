"""What the delegate takes of a subgraph, and in which runs the runtime hands it over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise

from outlive.kernels.xnnpack import checks
from outlive.kernels.xnnpack.checks import DelegateView, NotTaken
from outlive.kernels.xnnpack.registry import refusal
from outlive.model import Model, Operator, Subgraph

_WITHOUT_COPY = ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D")
# Operators whose kernels may change state keep their order among themselves (might_have_side_effect).
_STATEFUL = frozenset(
    {
        *("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE", "CALL", "IF", "WHILE"),
        *("HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE"),
        *("MULTINOMIAL", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Operators that follow one another: all taken by the delegate (`delegated`), or none."""

    operators: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    delegated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """What the delegate takes of one subgraph."""

    runs: tuple[Run, ...]
    taken: frozenset[int]
    refused: Mapping[int, str]  # operator: why not
    unpacking: frozenset[int]  # operators that unpack constants: done once, by the delegate
    unpacked: Mapping[int, int]  # tensor the delegate keeps an unpacked copy of: the operator that made it
    kept_half: Mapping[int, int]  # float32 tensor: the float16 constant XNNPACK reads in its place
    sparse: bool


@dataclass(slots=True)
class _Progress:
    producers: dict[int, int] = field(default_factory=dict)
    unpacking: set[int] = field(default_factory=set)
    wanted: set[int] = field(default_factory=set)
    kept_half: dict[int, int] = field(default_factory=dict)
    sparse: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    refused: dict[int, str] = field(default_factory=dict)
    handles: dict[int, int] = field(default_factory=dict)
    variables: dict[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)


def delegate(subgraph: Subgraph, shapes: Mapping[int, tuple[int, ...]]) -> Delegation:
    """The operators XNNPACK's delegate takes, in the runs the runtime makes of them.

    `shapes` are those of resized inputs: the delegate looks at the graph before any kernel is prepared.
    """
    progress = _Progress()
    consumers = subgraph.consumers()
    for operator in subgraph.operators:
        if not _unpacks(subgraph, operator, consumers, progress):
            _judge(subgraph, operator, shapes, progress)
    progress.taken |= progress.unpacking
    progress.taken |= {
        progress.handles[tensor] for tensor in progress.variables if tensor in progress.handles
    }
    return Delegation(
        runs=_partition(subgraph, progress.taken),
        taken=frozenset(progress.taken),
        refused={index: why for index, why in progress.refused.items() if index not in progress.taken},
        unpacking=frozenset(progress.unpacking),
        unpacked={t: progress.producers[t] for t in sorted(progress.wanted) if t not in progress.kept_half},
        kept_half=progress.kept_half,
        sparse=any(i in progress.sparse for op in progress.taken for i in subgraph.operators[op].inputs),
    )


def expected_of_xnnpack(model: Model) -> Delegation | None:
    """What the planner expects of XNNPACK; None for a graph that it cannot follow."""
    try:
        return delegate(model.subgraphs[0], {})
    except (IndexError, KeyError, ValueError, TypeError, ArithmeticError):
        return None


def _unpacks(
    subgraph: Subgraph, operator: Operator, consumers: Mapping[int, list[int]], progress: _Progress
) -> bool:
    """True if the operator only unpacks a constant (DEQUANTIZE of float16 or int8, DENSIFY)."""
    if (
        operator.type not in ("DEQUANTIZE", "DENSIFY")
        or len(operator.inputs) != 1
        or len(operator.outputs) != 1
    ):
        return False
    given, made = operator.inputs[0], operator.outputs[0]
    if min(given, made) < 0 or max(given, made) >= len(subgraph.tensors):
        return False
    source, target = subgraph.tensors[given], subgraph.tensors[made]
    if operator.type == "DENSIFY":
        known = source.is_constant and source.sparsity is not None and source.dtype == target.dtype
        if not known or source.dtype not in ("float16", "int8", "float32"):
            return False
        progress.sparse.add(made)
    else:
        constant = source.is_constant or given in progress.producers
        eight = source.dtype == "int8" and source.quantization is not None
        halves = source.dtype == "float16"
        if source.sparsity or not constant or not (eight or halves) or target.dtype != "float32":
            return False
        if halves and _only_weights(subgraph, made, consumers):
            progress.kept_half[made] = given
        if not source.is_constant:
            progress.wanted.add(given)
        if given in progress.sparse:
            progress.sparse.add(made)
    progress.unpacking.add(operator.index)
    progress.producers[made] = operator.index
    return True


def _only_weights(subgraph: Subgraph, tensor: int, consumers: Mapping[int, list[int]]) -> bool:
    """True if all its readers take it as weights or bias, which XNNPACK can pack from float16."""
    readers = [subgraph.operators[index] for index in consumers.get(tensor, ())]
    return all(op.type in _WITHOUT_COPY and op.inputs[0] != tensor for op in readers)


def _judge(
    subgraph: Subgraph, operator: Operator, shapes: Mapping[int, tuple[int, ...]], progress: _Progress
) -> None:
    view = DelegateView(operator, subgraph.tensors, shapes, progress.producers, progress.kept_half)
    if operator.type in ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"):
        reason = _variable(view, progress)
    else:
        reason = refusal(view)
    if reason:
        progress.refused[operator.index] = reason
        progress.unpacking -= {progress.producers[i] for i in operator.inputs if i in progress.producers}
        return
    progress.wanted |= {i for i in operator.inputs if i in progress.producers}
    progress.taken.add(operator.index)


def _variable(view: DelegateView, progress: _Progress) -> str:
    """VisitVarHandleNode, VisitReadVariableNode, VisitAssignVariableNode."""
    operator = view.operator
    if operator.type == "VAR_HANDLE":
        for tensor in operator.outputs[:1]:
            progress.handles.setdefault(tensor, operator.index)
        return "taken only together with what reads or writes the variable"
    value = view.output() if operator.type == "READ_VARIABLE" else view.input(1)
    handle = operator.inputs[0] if operator.inputs else -1
    if value is None or (operator.type == "READ_VARIABLE" and not view.shape(value)):
        return "the variable is a scalar, or of unknown shape"
    try:
        checks.float_or_eight_bits(value)
    except NotTaken as reason:
        return str(reason)
    if handle not in progress.handles:
        return "the variable has no handle in this subgraph"
    known = progress.variables.setdefault(handle, (value.dtype, view.shape(value)))
    return "" if known == (value.dtype, view.shape(value)) else "the variable changes its type or shape"


def partition(subgraph: Subgraph, taken: frozenset[int]) -> tuple[Run, ...]:
    """The runs that the runtime makes of operators that a delegate takes, whichever it is."""
    return _partition(subgraph, set(taken))


def _partition(subgraph: Subgraph, taken: set[int]) -> tuple[Run, ...]:
    """PartitionGraphIntoIndependentNodeSubsets, greedily: tflite/graph_info.cc."""
    queue = _Queue(subgraph, taken)
    runs: list[tuple[list[int], bool]] = []
    while True:
        members, delegated = queue.take_run()
        if not members:  # all done, or a cycle, which the runtime refuses
            return _with_borders(subgraph, runs)
        runs.append((members, delegated))


class _Queue:
    """Operators whose inputs are there, the delegate's and the others, each kind by position.

    The runtime passes over the operators again and again. In one pass it takes an operator only behind the
    one it took before; what becomes ready further up waits for the next pass.
    """

    def __init__(self, subgraph: Subgraph, taken: set[int]) -> None:
        self._taken = taken
        self._missing = [0] * len(subgraph.operators)
        self._wakes: list[list[int]] = [[] for _ in subgraph.operators]
        self._ready: dict[bool, list[int]] = {True: [], False: []}
        for maker, reader in _dependencies(subgraph):
            self._missing[reader] += 1
            self._wakes[maker].append(reader)
        for index, missing in enumerate(self._missing):
            if not missing:
                heappush(self._ready[index in taken], index)

    def take_run(self) -> tuple[list[int], bool]:
        """The next run, and whether it is the delegate's; empty when nothing is ready."""
        heads = [(queue[0], kind) for kind, queue in self._ready.items() if queue]
        if not heads:
            return [], False
        delegated = min(heads)[1]
        queue, members, position = self._ready[delegated], [], -1
        later: list[int] = []
        while queue or later:
            if not queue:  # the next pass
                queue[:], later, position = sorted(later), [], -1
            index = heappop(queue)
            if index < position:
                later.append(index)
                continue
            position = index
            members.append(index)
            self._wake(index)
        return members, delegated

    def _wake(self, index: int) -> None:
        for reader in self._wakes[index]:
            self._missing[reader] -= 1
            if not self._missing[reader]:
                heappush(self._ready[reader in self._taken], reader)


def _dependencies(subgraph: Subgraph) -> set[tuple[int, int]]:
    """Pairs of operators of which the second needs what the first makes, or must come after it."""
    count = len(subgraph.tensors)
    maker: dict[int, int] = {}
    for operator in subgraph.operators:
        maker |= {tensor: operator.index for tensor in operator.outputs if 0 <= tensor < count}
    pairs = {
        (maker[tensor], operator.index)
        for operator in subgraph.operators
        for tensor in operator.inputs
        if tensor in maker
    }
    stateful = [op.index for op in subgraph.operators if op.type in _STATEFUL]
    return pairs | set(pairwise(stateful))


def _with_borders(subgraph: Subgraph, runs: list[tuple[list[int], bool]]) -> tuple[Run, ...]:
    made_by: dict[int, int] = {}
    for position, (members, _) in enumerate(runs):
        for index in members:
            made_by |= dict.fromkeys(subgraph.operators[index].outputs, position)
    inputs: list[set[int]] = [set() for _ in runs]
    outputs: list[set[int]] = [set() for _ in runs]
    for position, (members, _) in enumerate(runs):
        for tensor in {t for index in members for t in subgraph.operators[index].inputs if t >= 0}:
            maker = made_by.get(tensor)
            if maker != position:
                inputs[position].add(tensor)
            if maker is not None and maker != position:
                outputs[maker].add(tensor)
    for tensor in subgraph.output_indices:
        if tensor in made_by:
            outputs[made_by[tensor]].add(tensor)
    return tuple(
        Run(
            operators=tuple(members),
            inputs=tuple(sorted(inputs[position])),
            outputs=tuple(sorted(outputs[position])),
            delegated=delegated,
        )
        for position, (members, delegated) in enumerate(runs)
    )
