"""The plan for LiteRT's own kernels: the runtime's placements, offset by offset.

Model ──> subgraphs (prepared: shapes, places, temporaries) ──> placing (lifetimes, sort, best fit) ──> Plan

Tensors the runtime keeps on the heap, and what its own structures take.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from outlive.arena.builtin.layout import SubgraphLayout, lay_out
from outlive.arena.builtin.liveness import SubgraphLiveness, liveness_of, unshared_of
from outlive.arena.builtin.page_usage import DelegateHeap, PeakUsage, most_at_once
from outlive.arena.builtin.preparation import CalledSubgraphs, Preparation, list_parts
from outlive.arena.plan import (
    Bound,
    OpLoad,
    Part,
    Placement,
    Plan,
    PlannedInput,
    Question,
    Refusal,
    make_plan,
    weakest,
)
from outlive.kernels.litert.custom import CUSTOM_KERNELS
from outlive.kernels.litert.registry import KERNELS
from outlive.kernels.litert.tensor_table import sparse_bytes
from outlive.kernels.tables import LITERT_VERSION
from outlive.model import Model, Operator
from outlive.units import format_bytes, plural

# Fitted to private memory after allocate_tensors in fresh processes, heap tensors taken off: 74 models of the
# corpus, LiteRT, x86-64; 44 KB is the standard deviation of what is left.
_INTERPRETER_BYTES = 10_000
_BYTES_PER_TENSOR = 700
_BYTES_PER_SCALE = 11
# sizeof(TfLiteTensor): tflite/core/c/common.h. Their array grows by a tenth when kernels add temporaries
# (EnsureTensorsVectorCapacity: tflite/core/subgraph.h); what it was before stays behind in gaps, as measured.
_TENSOR_BYTES, _ARRAYS = 112, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapTensors:
    """Bytes on the heap, and in words what is there without its size being known."""

    size_bytes: int
    unknown: tuple[str, ...]


def heap_of(layout: SubgraphLayout) -> HeapTensors:
    """The heap tensors of one subgraph: read-only ones, dynamic ones, those of kernels."""
    preparation = layout.preparation
    table = preparation.table
    grown = {part: size * table.bytes[source] for part, source, size in list_parts(preparation)}
    total = 0
    text = 0
    for tensor, where in enumerate(table.where):
        if where not in ("readonly", "dynamic"):
            continue
        total += max(table.bytes[tensor], grown.get(tensor, 0))
        text += table.dtypes[tensor] == "string"
    unknown = list(_waits(preparation))
    if text:
        unknown.append(f"the bytes of {plural(text, 'text tensor')}: they depend on the text")
    return HeapTensors(size_bytes=total, unknown=tuple(unknown))


def _waits(preparation: Preparation) -> Iterable[str]:
    """Operators whose output's size depends on data."""
    for index in preparation.waits:
        later = len(preparation.nodes) - 1 - index
        behind = f"; {plural(later, 'operator')} behind it as the file's shapes have it" if later else ""
        yield f"{preparation.name_of(index)}: its output's size is known only when it runs{behind}"


def variables_bytes(preparations: Iterable[Preparation]) -> int:
    """What resource variables keep, a copy of the value assigned: tflite/kernels/assign_variable.cc."""
    sizes: dict[tuple[object, object], int] = {}
    for preparation in preparations:
        handles: dict[int, tuple[object, object]] = {}
        for node in preparation.nodes:
            operator = node.operator
            if operator.type == "VAR_HANDLE" and operator.options is not None:
                name = operator.options.get("container"), operator.options.get("shared_name")
                handles.update(dict.fromkeys(node.outputs, name))
            elif operator.type == "ASSIGN_VARIABLE" and len(node.inputs) == 2:
                handle, value = node.inputs
                key = handles.get(handle, ("", handle))
                sizes[key] = max(sizes.get(key, 0), preparation.table.bytes[value])
    return sum(sizes.values())


def structures_bytes(model: Model) -> int:
    """About what the interpreter takes for itself, its tensors and their quantization."""
    total = _INTERPRETER_BYTES
    for tensor in model.tensors():
        total += _BYTES_PER_TENSOR
        if tensor.quantization is not None:
            total += _BYTES_PER_SCALE * len(tensor.quantization.scales)
        total += sparse_bytes(tensor)
    return total


def late_bytes(layouts: Iterable[SubgraphLayout]) -> int:
    """Arrays of tensors that grow as the model runs, because kernels are prepared only then."""
    grown = (layout for layout in layouts if len(layout.preparation.stages) > 1)
    return sum(_ARRAYS * _TENSOR_BYTES * len(layout.preparation.table.where) for layout in grown)


_MOST_UNKNOWN = 20
_TABLES = f"kernels and planner as in LiteRT {LITERT_VERSION}; ties as libstdc++ orders them"
_FORESEEN = (
    "shapes that the runtime learns as it runs are worked out from those of the inputs, where they follow"
)
_BOUND = "lower bound: what lies in place of another counts once, an input until its last reader"


def plan_builtin(model: Model, question: Question) -> Plan:
    """The memory a model needs with LiteRT's builtin (or reference) kernels."""
    return plan_beside(model, question, None)[0]


def plan_beside(
    model: Model, question: Question, delegate: Callable[[], DelegateHeap] | None
) -> tuple[Plan, PeakUsage]:
    """The plan of what a delegate leaves, if there is one to fill the heap first; and the worst moment."""
    if not model.subgraphs:
        refusal = Refusal(subgraph=0, op=None, type="", reason="no subgraph")
        return _refused(model, question, (refusal,)), PeakUsage()
    callers = CalledSubgraphs(model, question)
    main = callers.enter_main()
    refusals = _refusals(main, callers)
    if refusals:
        return _refused(model, question, refusals), PeakUsage()
    layouts = {
        index: lay_out(preparation, question.preserve_all_tensors)
        for index, preparation in sorted(callers.prepared.items())
    }
    opened = None if delegate is None else delegate()
    most = most_at_once(layouts, question.accelerator == "reference", opened)
    return _plan(model, question, layouts, frozenset(callers.once), most), most


def _refusals(main: Preparation, callers: CalledSubgraphs) -> tuple[Refusal, ...]:
    """Operators without a kernel, as far as allocate_tensors gets."""
    reached = [main]
    if len(main.stages) == 1:
        reached += [graph for index, graph in callers.prepared.items() if index and index not in callers.once]
    return tuple(
        Refusal(
            subgraph=graph.subgraph.index,
            op=index,
            type=node.operator.name,
            reason=f"LiteRT has no kernel for the {_kind(node.operator)} {node.operator.name}",
            missing=True,
        )
        for graph in reached
        for index, node in enumerate(graph.nodes[: graph.stages[0][1] + 1])
        if node.operator.name not in (CUSTOM_KERNELS if node.operator.is_custom else KERNELS)
    )


def _kind(operator: Operator) -> str:
    return "custom operator" if operator.is_custom else "operator"


def _plan(
    model: Model,
    question: Question,
    layouts: dict[int, SubgraphLayout],
    once: frozenset[int],
    most: PeakUsage,
) -> Plan:
    preserve = question.preserve_all_tensors
    main = layouts[0]
    spans = {index: liveness_of(layout, preserve) for index, layout in layouts.items()}
    parts = _parts(model, layouts, once, most)
    sizes = Counter({part.name: part.bytes for part in parts})
    peak = sum(sizes.values())
    unknown = _unknown(layouts)
    late = any(len(layout.preparation.stages) > 1 for layout in layouts.values())
    doubts = [doubt for layout in layouts.values() for doubt in layout.preparation.doubts]
    return make_plan(
        model,
        question,
        inputs=_inputs(model, main),
        arena_bytes=main.arena.size_bytes,
        persistent_bytes=main.persistent.size_bytes,
        packed_weights_bytes=sizes["packed weights"],
        workspace_bytes=sizes["kernel workspace"],
        dynamic_bytes=sizes["heap tensors"],
        mapped_bytes=model.file_bytes,
        runtime_bytes=sizes["runtime"],
        peak_bytes=peak,
        total_bytes=peak + model.file_bytes,
        placements=spans[0].placements,
        ops=_ops(main, spans[0]),
        exact=not unknown and not late,
        unknown=unknown,
        bound=_bound(layouts),
        assumed=(_TABLES, _BOUND, *((_FORESEEN,) if late else ())),
        parts=parts,
        unshared=unshared_of(main, preserve),
        lower_bound_bytes=spans[0].least_bytes,
        needs_runtime_shapes=any(doubt.shapes for doubt in doubts),
        called_placements=_called(spans),
    )


def _parts(
    model: Model, layouts: dict[int, SubgraphLayout], once: frozenset[int], most: PeakUsage
) -> tuple[Part, ...]:
    main = layouts[0]
    called = {index: layout for index, layout in layouts.items() if index != 0}
    preparations = [layout.preparation for layout in layouts.values()]
    heaps = [heap_of(layout) for layout in layouts.values()]
    heap = sum(each.size_bytes for each in heaps) + variables_bytes(preparations)
    fixed = not any(each.unknown for each in heaps)
    parts = [
        Part(
            name="arena",
            bytes=most.arena_bytes,
            source=f"the runtime's planner, step for step{_spare(main.arena.size_bytes - most.arena_bytes)}",
        ),
        Part(
            name="persistent arena",
            bytes=most.persistent_bytes,
            source="variables and what kernels keep between runs"
            + _spare(main.persistent.size_bytes - most.persistent_bytes),
        ),
        Part(
            name="heap tensors",
            bytes=heap,
            source="tensors computed at Prepare, dynamic ones, resource variables",
            exact=fixed,
        ),
        Part(
            name="kernel workspace",
            bytes=most.workspace_bytes,
            source="operands that the matrix library packs, weights that kernels unpack",
            exact=False,
        ),
        Part(
            name="runtime",
            bytes=structures_bytes(model) + late_bytes(layouts.values()),
            source="the interpreter's structures, as measured",
            exact=False,
        ),
    ]
    if most.kept_bytes:
        source = "weights of 4 bits as their kernel packs them in the first run"
        parts.insert(2, Part(name="packed weights", bytes=most.kept_bytes, source=source))
    if called:
        source = f"arenas of {len(called)} called subgraphs"
        if once & called.keys():
            source += " (that of CALL_ONCE is given back after the first run)"
        parts.insert(2, Part(name="called subgraphs", bytes=most.called_bytes, source=source))
    return tuple(parts)


def _spare(size_bytes: int) -> str:
    """That some of an arena is reserved and was not written to yet, or never is."""
    return (
        f"; {format_bytes(size_bytes)} more are reserved, and not written to by then"
        if size_bytes > 0
        else ""
    )


def _unknown(layouts: dict[int, SubgraphLayout]) -> tuple[str, ...]:
    words: list[str] = []
    for layout in layouts.values():
        words += [doubt.words for doubt in layout.preparation.doubts]
        words += heap_of(layout).unknown
        if layout.arena.exhausted or layout.persistent.exhausted:
            words.append("the best places of all tensors: too many live at once; the arena is a bound")
    words = list(dict.fromkeys(words))
    more = len(words) - _MOST_UNKNOWN
    return (*words[:_MOST_UNKNOWN], *((f"and {more} more",) if more > 0 else ()))


def _bound(layouts: dict[int, SubgraphLayout]) -> Bound:
    """Sizes that data decide come on top; an arena that was not searched to the end is only too large."""
    if any(heap_of(layout).unknown for layout in layouts.values()):
        return "lower"
    doubts = [doubt.bound for layout in layouts.values() for doubt in layout.preparation.doubts]
    # What is asked for stage by stage, as the model runs, leaves gaps that are not followed.
    late = any(len(layout.preparation.stages) > 1 for layout in layouts.values())
    return weakest([*doubts, *(("lower",) if late else ())])


def _inputs(model: Model, main: SubgraphLayout) -> tuple[PlannedInput, ...]:
    shapes = main.preparation.table.shapes
    return tuple(PlannedInput(tensor.name, shapes[tensor.index], tensor.dtype) for tensor in model.inputs)


def _ops(main: SubgraphLayout, spans: SubgraphLiveness) -> tuple[OpLoad, ...]:
    names = main.preparation.table.names
    return tuple(
        OpLoad(
            index=index,
            type=node.operator.name,
            name=names[node.outputs[0]] if node.outputs else "",
            live_bytes=spans.live_bytes[index],
        )
        for index, node in enumerate(main.preparation.nodes)
    )


def _called(spans: dict[int, SubgraphLiveness]) -> tuple[Placement, ...]:
    return tuple(placement for index in spans if index != 0 for placement in spans[index].placements)


def _refused(model: Model, question: Question, refusals: tuple[Refusal, ...]) -> Plan:
    known = {"mapped_bytes": model.file_bytes, "assumed": (_TABLES,), "refusals": refusals}
    return make_plan(model, question, **known)
