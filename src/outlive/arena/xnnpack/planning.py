"""The plan of a model under LiteRT with XNNPACK, its default on CPUs.

What blocks with the runtime: the model with each delegated run as one operator, by the runtime's rules.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from outlive.arena.builtin.page_usage import DELEGATE, PAGE_ENDS_BYTES, DelegateHeap, PeakUsage
from outlive.arena.builtin.planning import plan_beside, plan_builtin, structures_bytes
from outlive.arena.builtin.preparation import CalledSubgraphs
from outlive.arena.plan import Bound, OpLoad, Part, Placement, Plan, Question, Refusal, weakest
from outlive.arena.xnnpack.allocations import DelegateAllocations, interpreter_bytes
from outlive.arena.xnnpack.partition import Delegation, Run, delegate
from outlive.kernels.tables import LITERT_VERSION
from outlive.kernels.xnnpack.node_memory import instruction_set, this_machine
from outlive.model import Model, Operator, Subgraph
from outlive.units import tensor_bytes

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndelegatedPlan:
    """The runtime's own plan beside the delegate.

    `order` has the main subgraph's operators as they run: for each one of the plan, the model's operators it
    stands for.
    """

    plan: Plan
    order: tuple[tuple[int, ...], ...]
    most: PeakUsage  # the worst moment of a run, the delegate's memory included

    def part(self, name: str) -> int:
        """Bytes of one part of the runtime's own memory: what is written to, where more is reserved."""
        return sum(part.bytes for part in self.plan.parts if part.name == name)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the runtime's rules leave open, without what they say about the delegate."""
        return tuple(words for words in self.plan.unknown if DELEGATE not in words)

    def placements(self) -> tuple[Placement, ...]:
        """Tensors of the main subgraph in its arena; operators are counted in the order they run."""
        ends = [0]
        for members in self.order:
            ends.append(ends[-1] + len(members))
        last = len(self.order)
        return tuple(
            replace(
                each,
                first_op=-1 if each.first_op < 0 else ends[min(each.first_op, last)],
                last_op=ends[last] if each.last_op >= last else max(-1, ends[each.last_op + 1] - 1),
            )
            for each in self.plan.placements
        )

    def live_bytes(self) -> dict[int, int]:
        """What is alive in the arena at each of the model's operators."""
        loads = zip(self.plan.ops, self.order, strict=False)
        return {operator: load.live_bytes for load, members in loads for operator in members}


def runtime_shapes(model: Model, question: Question) -> dict[tuple[int, int], Shape]:
    """The shape of every tensor once kernels are prepared, by the rules of the runtime's kernels."""
    callers = CalledSubgraphs(model, replace(question, accelerator="builtin"))
    callers.enter_main()
    shapes = {
        (index, tensor): shape
        for index, preparation in callers.prepared.items()
        for tensor, shape in enumerate(preparation.table.shapes[: len(preparation.table.tensors)])
    }
    # Shapes that were given are in these already; those behind an operator that waits are better known here.
    return {**question.shapes, **shapes}


def plan_undelegated(
    model: Model,
    delegations: Mapping[int, Delegation],
    shapes: Mapping[tuple[int, int], Shape],
    question: Question,
    open_delegate: Callable[[], DelegateHeap],
) -> UndelegatedPlan:
    """Arenas as they are with the delegate in place, on the heap that it has filled before."""
    subgraphs = tuple(_delegated(each, delegations[each.index]) for each in model.subgraphs)
    # Shapes of what the delegate makes are its own affair: the runtime's rules do not know that operator.
    border = {
        (each.index, tensor): shapes.get((each.index, tensor), each.tensors[tensor].shape)
        for each in subgraphs
        for operator in each.operators
        if operator.type == DELEGATE
        for tensor in operator.outputs
    }
    rest = replace(model, subgraphs=subgraphs)
    vars(rest)["sha256"] = model.sha256  # the file is the same: its digest need not be computed twice
    asked = replace(question, accelerator="builtin", shapes={**question.shapes, **border})
    plan, most = plan_beside(rest, asked, open_delegate)
    return UndelegatedPlan(plan=plan, order=_order(delegations[0]), most=most)


def _order(delegation: Delegation) -> tuple[tuple[int, ...], ...]:
    order: list[tuple[int, ...]] = []
    for run in delegation.runs:
        order += [run.operators] if run.delegated else [(index,) for index in run.operators]
    return tuple(order)


def _delegated(subgraph: Subgraph, delegation: Delegation) -> Subgraph:
    operators: list[Operator] = []
    for run in delegation.runs:
        if run.delegated:
            operators.append(_as_one(subgraph, delegation, run))
        else:
            operators += [subgraph.operators[index] for index in run.operators]
    numbered = (replace(operator, index=index) for index, operator in enumerate(operators))
    return replace(subgraph, operators=tuple(numbered))


def _as_one(subgraph: Subgraph, delegation: Delegation, run: Run) -> Operator:
    """A run as the runtime sees it: one operator, which makes neither unpacked constants nor handles.

    For weights of float16 that another run reads there is room as float32, which nothing writes to.
    """
    made = [t for t in run.outputs if t not in delegation.unpacked]
    made = [t for t in made if subgraph.tensors[t].dtype != "resource"]
    return replace(
        subgraph.operators[run.operators[0]],
        type=DELEGATE,
        custom_name="",
        inputs=run.inputs,
        outputs=tuple(made),
        intermediates=tuple(t for t in made if t in delegation.kept_half),
        options=None,
        custom_options=None,
    )


def variables_bytes(
    subgraph: Subgraph, delegation: Delegation, shapes: Mapping[tuple[int, int], Shape]
) -> int:
    """Resource variables the delegate reads or writes: each is a copy on the heap, as large as its value."""
    names: dict[int, tuple[object, object]] = {}
    sizes: dict[tuple[object, object], int] = {}
    for index in sorted(delegation.taken):
        operator = subgraph.operators[index]
        if operator.type == "VAR_HANDLE" and operator.options is not None and operator.outputs:
            name = operator.options.get("container"), operator.options.get("shared_name")
            names[operator.outputs[0]] = name
    for index in delegation.taken:
        operator = subgraph.operators[index]
        if operator.type in ("READ_VARIABLE", "ASSIGN_VARIABLE") and operator.inputs[0] in names:
            value = (*operator.outputs, *operator.inputs[1:])[0]
            shape = shapes.get((subgraph.index, value), subgraph.tensors[value].shape)
            size = tensor_bytes(shape, subgraph.tensors[value].dtype) or 0
            name = names[operator.inputs[0]]
            sizes[name] = max(sizes.get(name, 0), size)
    return sum(sizes.values())


_ARENAS = ("arena", "called subgraphs", "persistent arena")
_VERSIONS = f"LiteRT {LITERT_VERSION} with the XNNPACK it ships, and the heap of glibc"
_WITHOUT_KLEIDI = "XNNPACK's own kernels, not those of KleidiAI that a build for Arm may have"
_SPARSE = "sparse weights: XNNPACK may have other kernels for them, whose memory is not worked out"
_HALF = "float16 activations: XNNPACK may compute them in float32, which takes more"

_GROWS = "open shapes in several runs of operators: the workspace grows as they run, and gaps stay behind"


def plan_xnnpack(model: Model, question: Question, instructions: str = "") -> Plan:
    """The memory the model will need with XNNPACK, on this machine's instruction set or the one named."""
    if not model.subgraphs:
        return plan_builtin(model, question)
    name = instructions or this_machine()
    threads = max(1, question.threads or 1)
    shapes = runtime_shapes(model, question)
    delegations = {each.index: delegate(each, _resized(each, question)) for each in model.subgraphs}
    memory = DelegateAllocations(instruction_set(name), threads, cached=question.weight_cache)

    def open_delegate() -> DelegateHeap:
        for subgraph in model.subgraphs:
            own = {tensor: shape for (index, tensor), shape in shapes.items() if index == subgraph.index}
            memory.open(subgraph, delegations[subgraph.index], own, used=subgraph.index == 0 or bool(own))
        return DelegateHeap(heap=memory.heap, prepare=memory.prepare)

    undelegated = plan_undelegated(model, delegations, shapes, question, open_delegate)
    if undelegated.plan.refusals:
        return _refused(undelegated, question)
    variables = variables_bytes(model.subgraphs[0], delegations[0], shapes)
    rest = replace(undelegated.plan, dynamic_bytes=(undelegated.plan.dynamic_bytes or 0) + variables)
    undelegated = replace(undelegated, plan=rest)
    interpreter = _interpreter_bytes(model, threads, delegations)
    return _plan(model, question, name, memory, undelegated, interpreter, delegations)


def _resized(subgraph: Subgraph, question: Question) -> dict[int, tuple[int, ...]]:
    """The delegate sees new shapes of inputs, and of nothing else: no kernel has been prepared by then."""
    return {
        tensor: question.shapes[subgraph.index, tensor]
        for tensor in subgraph.input_indices
        if (subgraph.index, tensor) in question.shapes
    }


def _interpreter_bytes(model: Model, threads: int, delegations: Mapping[int, Delegation]) -> int:
    """With what the builtin kernels keep for operators that stay with them: multipliers of each channel."""
    taken = sum(len(each.taken) for each in delegations.values())
    count = sum(len(each.operators) for each in model.subgraphs)
    plain = interpreter_bytes(model, threads, delegated=taken > 0)
    more = max(0, structures_bytes(model) - plain)
    return plain + more * (count - taken) // max(1, count)


def _refused(undelegated: UndelegatedPlan, question: Question) -> Plan:
    order = undelegated.order
    refusals = tuple(_in_file(each, order) for each in undelegated.plan.refusals)
    return replace(undelegated.plan, accelerator=question.accelerator, refusals=refusals)


def _in_file(refusal: Refusal, order: tuple[tuple[int, ...], ...]) -> Refusal:
    known = refusal.subgraph == 0 and refusal.op is not None and refusal.op < len(order)
    return replace(refusal, op=order[refusal.op][0]) if known and refusal.op is not None else refusal


def _plan(
    model: Model,
    question: Question,
    name: str,
    memory: DelegateAllocations,
    undelegated: UndelegatedPlan,
    interpreter: int,
    delegations: Mapping[int, Delegation],
) -> Plan:
    rest = undelegated.plan
    parts = _parts(memory, undelegated, interpreter, cached=question.weight_cache)
    peak = sum(part.bytes for part in parts)
    arenas = sum(undelegated.part(name) for name in _ARENAS)
    packed = 0 if question.weight_cache else memory.packed_bytes
    packed += memory.unpacked_bytes + undelegated.part("packed weights")
    workspace = memory.workspace_bytes + memory.indirection_bytes + undelegated.part("kernel workspace")
    others = packed + workspace + arenas + (rest.dynamic_bytes or 0)
    transient = _transient(memory, undelegated)
    ops = _ops(model.subgraphs[0], memory, undelegated)
    mapped = model.file_bytes + (memory.packed_bytes if question.weight_cache else 0)
    return replace(
        rest,
        accelerator=question.accelerator,
        packed_weights_bytes=packed,
        workspace_bytes=workspace,
        mapped_bytes=mapped,
        runtime_bytes=peak - others - transient,
        transient_bytes=transient,
        peak_bytes=peak,
        total_bytes=peak + mapped,
        placements=undelegated.placements(),
        ops=ops,
        exact=False,
        unknown=_unknown(memory, undelegated, delegations),
        bound=_bound(rest.bound, memory, delegations),
        assumed=(
            f"the instruction set {name}",
            _VERSIONS,
            *((_WITHOUT_KLEIDI,) if name[:3] == "arm" else ()),
        ),
        parts=parts,
        lower_bound_bytes=max((load.live_bytes for load in ops), default=0),
        workspace_placements=tuple(
            memory.placements(model.subgraphs[0], {load.index: at for at, load in enumerate(ops)})
        ),
    )


def _parts(
    memory: DelegateAllocations, undelegated: UndelegatedPlan, interpreter: int, *, cached: bool
) -> tuple[Part, ...]:
    rest = undelegated.plan
    packed = 0 if cached else memory.packed_bytes
    pieces = packed + memory.unpacked_bytes + memory.workspace_bytes + memory.indirection_bytes
    gaps = undelegated.most.delegate_bytes - pieces - memory.descriptor_bytes
    workspace = memory.workspace_bytes + min(0, gaps)  # not all of it may be there at the worst moment
    rows = (
        ("packed weights", packed, "XNNPACK's copy of the weights"),
        ("unpacked weights", memory.unpacked_bytes, "constants converted to float32"),
        ("workspace", max(0, workspace), "activations between XNNPACK operators"),
        ("indirection buffers", memory.indirection_bytes, "XNNPACK's pointers to input pixels"),
        ("arena", undelegated.part("arena"), "tensors outside the delegate"),
        ("called subgraphs", undelegated.part("called subgraphs"), "arenas of called subgraphs"),
        (
            "persistent arena",
            undelegated.part("persistent arena"),
            "variables and kernel state",
        ),
        ("packed by kernels", undelegated.part("packed weights"), "4-bit weights outside the delegate"),
        (
            "kernel workspace",
            undelegated.part("kernel workspace"),
            "kernels outside the delegate",
        ),
        ("heap tensors", rest.dynamic_bytes or 0, "tensors computed at Prepare, dynamic tensors, variables"),
        (
            "runtime",
            interpreter + memory.descriptor_bytes,
            "estimate: descriptors of tensors and operators",
        ),
        ("heap fragmentation", max(0, gaps), "estimate: freed while packing weights, and page ends"),
        (
            "while packing",
            _transient(memory, undelegated),
            "float32 copies of float16 weights, freed after packing",
        ),
    )
    return tuple(
        Part(name=name, bytes=size, source=source, exact=False) for name, size, source in rows if size
    )


def _transient(memory: DelegateAllocations, undelegated: UndelegatedPlan) -> int:
    """What is held while weights are packed, beyond all that a run takes."""
    later = undelegated.most.bytes + (undelegated.plan.dynamic_bytes or 0)
    more = memory.heap.peak_bytes - later
    return more if more > PAGE_ENDS_BYTES else 0


def _ops(subgraph: Subgraph, memory: DelegateAllocations, undelegated: UndelegatedPlan) -> tuple[OpLoad, ...]:
    """The arena and the workspace together, operator by operator, in the order they run."""
    arena = undelegated.live_bytes()
    workspace = memory.live_bytes(subgraph.index)
    order = [subgraph.operators[index] for members in undelegated.order for index in members]
    return tuple(
        OpLoad(
            index=operator.index,
            type=operator.name,
            name=_name(subgraph, operator.outputs),
            live_bytes=arena.get(operator.index, 0) + workspace.get(operator.index, 0),
        )
        for operator in order
    )


def _name(subgraph: Subgraph, outputs: tuple[int, ...]) -> str:
    known = [index for index in outputs[:1] if 0 <= index < len(subgraph.tensors)]
    return subgraph.tensors[known[0]].name if known else ""


def _bound(rest: Bound, memory: DelegateAllocations, delegations: Mapping[int, Delegation]) -> Bound:
    """Gaps that growing leaves behind come on top of the plan; what may be either way may be less, too."""
    doubts: list[Bound] = [rest]
    if memory.grows:
        doubts.append("lower")
    if _either_way(memory, delegations):
        doubts.append("estimate")
    return weakest(doubts)


def _unknown(
    memory: DelegateAllocations, undelegated: UndelegatedPlan, delegations: Mapping[int, Delegation]
) -> tuple[str, ...]:
    said = [*undelegated.doubts, *_either_way(memory, delegations)]
    return tuple(dict.fromkeys(said))


def _either_way(memory: DelegateAllocations, delegations: Mapping[int, Delegation]) -> list[str]:
    """What XNNPACK may do in one way or another, with more memory or less."""
    sparse = any(each.sparse for each in delegations.values())
    rows = (sparse, _SPARSE), (memory.computes_half, _HALF), (memory.grows, _GROWS)
    return [words for found, words in rows if found]
