"""The temporaries our formulas say a model has, and where they differ from the runtime's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from outlive.kernels.litert.registry import kernel_of, prepared_outputs, temporaries_of, unshaped_outputs
from outlive.kernels.litert.tensor_table import Temporary, TensorTable, Where, open_table
from outlive.kernels.litert.view import PrepareView
from outlive.model import Model, Operator, Subgraph

# Their outputs are dynamic or not by what is in the subgraphs they call.
DECIDED_BY_SUBGRAPHS = frozenset({"IF", "WHILE", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE"})
NO_MEMORY, SCALAR = -1, -2  # as temporaries_probe.py says it


@dataclass
class Walk:
    """The main subgraph as the runtime prepares it, node by node, with the runtime's shapes."""

    table: TensorTable
    threads: int
    reference: bool
    stopped: bool = False

    def view(self, operator: Operator) -> PrepareView:
        """The operator as its Prepare finds it."""
        return PrepareView(operator, self.table, threads=self.threads, reference=self.reference)

    def settle(self, view: PrepareView) -> None:
        """Remember what Prepare did to the operator's tensors."""
        outputs = prepared_outputs(view) or unshaped_outputs(view)
        for index, output in zip(view.operator.outputs, outputs, strict=True):
            if index >= 0:
                kept = self.table.where[index] == "persistent"
                where: Where | None = None if kept else output.where
                self.table.apply(index, replace(output, where=where, shape=None, size_bytes=None))
                self.stopped |= output.undecided or self.table.where[index] == "dynamic"
        moved = kernel_of(view.operator.name).persistent_inputs
        for index in () if moved is None else moved(view):
            self.table.where[index] = "persistent"


def open_walk(graph: Subgraph, answer: Mapping[str, Any]) -> Walk:
    """The subgraph as it is loaded, with the shapes that the runtime gave."""
    table = open_table(graph, {})
    table.shapes = [tuple(answer["shapes"].get(str(each.index), each.shape)) for each in graph.tensors]
    return Walk(table, answer["threads"] or 1, answer["kernels"] == "reference")


@dataclass(frozen=True)
class Prediction:
    """All slots in the order of their indices, and where the model's own tensors live."""

    slots: tuple[Temporary, ...]
    homes: Mapping[int, str]
    prepared: tuple[int, ...]  # outputs of the operators whose Prepare was called
    unknown: tuple[str, ...] = ()


def predict(model: Model, answer: Mapping[str, Any]) -> Prediction:
    """What the formulas give with the runtime's shapes (the formulas are on trial here, not shapes)."""
    graph, tensors = model.subgraphs[0], answer["tensors"]
    walk = open_walk(graph, answer)
    first: list[Temporary] = []
    later: list[Temporary] = []
    unknown = []
    prepared: list[int] = []
    for operator in graph.operators:
        view = walk.view(operator)
        slots = temporaries_of(view)
        if slots is None:
            unknown.append(operator.name)
            continue
        blank = Temporary(size_bytes=0, where="none")
        first += [blank if walk.stopped else slot for slot in slots.at_init]
        if not walk.stopped:
            later += slots.at_prepare
            if operator.name not in DECIDED_BY_SUBGRAPHS:
                prepared += [index for index in operator.outputs if index >= 0]
            walk.settle(view)
            walk.stopped |= _stops_by_its_subgraphs(operator, tensors)
    homes = dict(enumerate(walk.table.where))
    return Prediction((*first, *later), homes, tuple(prepared), tuple(unknown))


def _stops_by_its_subgraphs(operator: Operator, tensors: Sequence[list[int] | None]) -> bool:
    """Control flow is another's business: here the runtime is believed."""
    results = [tensors[index] for index in operator.outputs if index >= 0]
    return operator.name in DECIDED_BY_SUBGRAPHS and any(shown == [NO_MEMORY, 0] for shown in results)


def differences(model: Model, answer: dict[str, Any]) -> list[str]:
    """Everything in which the prediction is not what the runtime shows; empty if they agree."""
    prediction = predict(model, answer)
    if prediction.unknown:
        return [f"no formula for {name}" for name in prediction.unknown]
    own = len(model.subgraphs[0].tensors)
    real = answer["tensors"][own:]
    if len(real) != len(prediction.slots):
        return [f"{len(prediction.slots)} slots, the runtime has {len(real)}"]
    pairs = list(zip(prediction.slots, real, strict=True))
    sizes = [_size_difference(index + own, slot, shown) for index, (slot, shown) in enumerate(pairs)]
    absent = _presence_differences(model, prediction, answer["tensors"])
    return [*filter(None, sizes), *absent, *_home_differences(prediction, answer["tensors"], own)]


def _size_difference(index: int, slot: Temporary, shown: list[int] | None) -> str:
    shapeless = slot.where == "none" or slot.at_invoke
    if shapeless:
        return "" if shown is None else f"slot {index} {slot.name}: the runtime has filled it: {shown}"
    if shown is None:
        return f"slot {index} {slot.name}: {slot.size_bytes} bytes, the runtime has not filled it"
    if shown[0] not in (slot.size_bytes, SCALAR):
        return f"slot {index} {slot.name}: {slot.size_bytes} bytes, the runtime has {shown[0]}"
    return ""


def _presence_differences(
    model: Model, prediction: Prediction, tensors: Sequence[list[int] | None]
) -> list[str]:
    """A dynamic output has no memory before the first run, every other has."""
    found = []
    for index in prediction.prepared:
        shown, home = tensors[index], prediction.homes[index]
        tensor = model.subgraphs[0].tensors[index]
        if shown is None or shown[0] in (0, SCALAR) or tensor.dtype in ("string", "resource", "variant"):
            continue
        if (home == "dynamic") != (shown[0] == NO_MEMORY):
            found.append(f"output {index}: {home}, the runtime has {shown}")
    return found


def _home_differences(prediction: Prediction, tensors: Sequence[list[int] | None], own: int) -> list[str]:
    """Neighbours in one arena are nearer than all of it together; nothing else lies between them."""
    homes = {**prediction.homes, **{own + i: slot.where for i, slot in enumerate(prediction.slots)}}
    placed: dict[str, list[tuple[int, int, int]]] = {}
    for index, shown in enumerate(tensors):
        home = homes[index]
        if shown is not None and shown[1]:
            placed.setdefault(home, []).append((shown[1], shown[0], index))
    scalars = sum(shown is not None and not shown[1] for shown in tensors)
    found = [_too_far_apart(home, placed.get(home, []), scalars) for home in ("arena", "persistent")]
    for home in ("arena", "persistent"):
        others = [(other, each) for other in placed if other != home for each in placed[other]]
        found += [_inside(home, placed.get(home, []), other, each) for other, each in others]
    return [*filter(None, found)]


def _too_far_apart(home: str, members: Sequence[tuple[int, int, int]], scalars: int) -> str:
    if not members:
        return ""
    room = scalars * 64 + sum(-(-size // 64) * 64 for _, size, _ in members)
    span = max(address + size for address, size, _ in members) - min(members)[0]
    odd = [index for address, _, index in members if address % 64]
    if odd:
        return f"tensors {odd} are not aligned as those of the {home} are"
    return f"the {home}'s tensors span {span} bytes, {room} at most" if span > room else ""


def _inside(home: str, members: Sequence[tuple[int, int, int]], other: str, one: tuple[int, int, int]) -> str:
    if not members or not min(members)[0] <= one[0] < max(members)[0]:
        return ""
    return f"tensor {one[2]}, {other}, lies within the {home}"
