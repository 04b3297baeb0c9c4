"""What blocks with the runtime: the model with each delegated run as one operator, by the runtime's rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from outlive.arena.builtin.planning import plan_builtin
from outlive.arena.builtin.subgraphs import CalledSubgraphs
from outlive.arena.plan import Placement, Plan, Question
from outlive.arena.xnnpack.partition import Delegation, Run
from outlive.model import Model, Operator, Subgraph
from outlive.units import tensor_bytes

Shape = tuple[int, ...]
# The name the schema has for an operator that stands for a delegate's.
DELEGATE = "DELEGATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class UndelegatedPlan:
    """The runtime's own plan beside the delegate.

    `order` has the main subgraph's operators as they run: for each one of the plan, the model's operators it
    stands for.
    """

    plan: Plan
    order: tuple[tuple[int, ...], ...]

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
) -> UndelegatedPlan:
    """Arenas as they are with the delegate in place."""
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
    return UndelegatedPlan(plan=plan_builtin(rest, asked, delegate_tried=True), order=_order(delegations[0]))


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
