"""The plan of a model under LiteRT with XNNPACK, its default on CPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from outlive.arena.builtin.heap import structures_bytes
from outlive.arena.builtin.planning import plan_builtin
from outlive.arena.plan import Bound, OpLoad, Part, Plan, Question, Refusal, weakest
from outlive.arena.xnnpack.allocations import DelegateAllocations
from outlive.arena.xnnpack.partition import Delegation, delegate
from outlive.arena.xnnpack.structures import interpreter_bytes
from outlive.arena.xnnpack.undelegated import (
    UndelegatedPlan,
    plan_undelegated,
    runtime_shapes,
    variables_bytes,
)
from outlive.kernels.tables import LITERT_VERSION
from outlive.kernels.xnnpack.microkernels import instruction_set, this_machine
from outlive.model import Model, Subgraph

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
    undelegated = plan_undelegated(model, delegations, shapes, question)
    if undelegated.plan.refusals:
        return _refused(undelegated, question)
    memory = DelegateAllocations(instruction_set(name), threads, cached=question.weight_cache)
    for subgraph in model.subgraphs:
        own = {tensor: shape for (index, tensor), shape in shapes.items() if index == subgraph.index}
        memory.open(subgraph, delegations[subgraph.index], own, used=subgraph.index == 0 or bool(own))
    memory.prepare()
    variables = variables_bytes(model.subgraphs[0], delegations[0], shapes)
    rest = replace(undelegated.plan, dynamic_bytes=(undelegated.plan.dynamic_bytes or 0) + variables)
    undelegated = replace(undelegated, plan=rest)
    memory.place_arenas(*(undelegated.part(name) for name in _ARENAS))
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
    transient = _transient(memory, rest)
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
    arenas = sum(undelegated.part(name) for name in _ARENAS)
    pieces = packed + memory.unpacked_bytes + memory.workspace_bytes + memory.indirection_bytes + arenas
    gaps = memory.heap.resident_bytes - pieces - memory.descriptor_bytes
    rows = (
        ("packed weights", packed, "XNNPACK's copy of the weights, in the tiles of its kernels"),
        ("unpacked weights", memory.unpacked_bytes, "constants the delegate has converted to float32"),
        ("workspace", memory.workspace_bytes, "XNNPACK's planner: activations between its operators"),
        ("pointers to pixels", memory.indirection_bytes, "one for each tap of each output pixel"),
        ("arena", undelegated.part("arena"), "the runtime's planner: tensors outside the delegate"),
        ("called subgraphs", undelegated.part("called subgraphs"), "arenas of subgraphs that operators call"),
        (
            "persistent arena",
            undelegated.part("persistent arena"),
            "variables and what kernels keep between runs",
        ),
        ("packed by kernels", undelegated.part("packed weights"), "weights of 4 bits outside the delegate"),
        (
            "kernel workspace",
            undelegated.part("kernel workspace"),
            "of kernels outside the delegate, as they run",
        ),
        ("heap tensors", rest.dynamic_bytes or 0, "tensors computed at Prepare, dynamic ones, variables"),
        (
            "runtime",
            interpreter + memory.descriptor_bytes,
            "about: descriptors of tensors and operators",
        ),
        ("gaps in the heap", max(0, gaps), "about: what was freed while weights were packed, and page ends"),
        (
            "while packing",
            _transient(memory, rest),
            "float32 copies of float16 weights, freed once packed",
        ),
    )
    return tuple(
        Part(name=name, bytes=size, source=source, exact=False) for name, size, source in rows if size
    )


def _transient(memory: DelegateAllocations, rest: Plan) -> int:
    """What is held while weights are packed, beyond all that a run takes."""
    later = memory.heap.resident_bytes + (rest.dynamic_bytes or 0) + (rest.workspace_bytes or 0)
    return max(0, memory.heap.peak_bytes - later)


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
