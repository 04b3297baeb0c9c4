"""The temporaries our formulas say a model has, and where they differ from the runtime's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outlive.kernels.litert.temporaries.allocation import (
    DECIDED_BY_SUBGRAPHS,
    inputs_made_persistent,
    output_home,
    stops_preparation,
)
from outlive.kernels.litert.temporaries.formulas import slots_of
from outlive.kernels.litert.temporary import Situation, Temporary
from outlive.model import Model, Operator, Tensor

NO_MEMORY, SCALAR = -1, -2  # as temporaries_probe.py says it


@dataclass
class Walk:
    """The main subgraph as the runtime prepares it, node by node."""

    tensors: Sequence[Tensor]
    shapes: Sequence[tuple[int, ...]]
    threads: int
    reference: bool
    homes: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for tensor in self.tensors:
            state = "persistent" if tensor.is_variable else "arena"
            self.homes[tensor.index] = "constant" if tensor.is_constant else state

    def situation(self, operator: Operator) -> Situation:
        """The operator as its Prepare finds it."""
        return Situation(
            operator=operator,
            tensors=self.tensors,
            shapes=self.shapes,
            constant=lambda index: self.homes[index] == "constant",
            constant_or_persistent=lambda index: self.homes[index] in ("constant", "heap"),
            threads=self.threads,
            reference=self.reference,
            arena_persistent=lambda index: self.homes[index] == "persistent",
        )

    def settle(self, situation: Situation) -> None:
        """Remember what Prepare did to the operator's tensors."""
        for position, index in enumerate(situation.operator.outputs):
            if index >= 0 and self.homes[index] != "persistent":
                self.homes[index] = output_home(situation, position)
        for index in inputs_made_persistent(situation):
            self.homes[index] = "persistent"


@dataclass(frozen=True)
class Prediction:
    """All slots in the order of their indices, and where the model's own tensors live."""

    slots: tuple[Temporary, ...]
    homes: Mapping[int, str]
    prepared: tuple[int, ...]  # outputs of the operators whose Prepare was called
    unknown: tuple[str, ...] = ()


def predict(model: Model, answer: Mapping[str, Any]) -> Prediction:
    """What the formulas give with the runtime's shapes (the formulas are on trial here, not shapes)."""
    graph, tensors, shapes = model.subgraphs[0], answer["tensors"], answer["shapes"]
    seen = [tuple(shapes.get(str(tensor.index), tensor.shape)) for tensor in graph.tensors]
    walk = Walk(graph.tensors, seen, answer["threads"] or 1, answer["kernels"] == "reference")
    first: list[Temporary] = []
    later: list[Temporary] = []
    unknown = []
    prepared: list[int] = []
    stopped = False
    for operator in graph.operators:
        situation = walk.situation(operator)
        slots = slots_of(situation)
        if slots is None:
            unknown.append(operator.name)
            continue
        blank = Temporary(size_bytes=0, where="empty")
        first += [blank if stopped else slot for slot in slots.at_init]
        if not stopped:
            later += slots.at_prepare
            if operator.name not in DECIDED_BY_SUBGRAPHS:
                prepared += [index for index in operator.outputs if index >= 0]
            walk.settle(situation)
            stopped = stops_preparation(situation) or _stops_by_its_subgraphs(operator, tensors)
    return Prediction((*first, *later), walk.homes, tuple(prepared), tuple(unknown))


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
    shapeless = slot.where == "empty" or slot.at_invoke
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
        home = "arena" if homes[index] == "unshaped" else homes[index]
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
