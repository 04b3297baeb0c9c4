"""Operators one by one, with their tensors as the runtime has them when the kernel is prepared.

    model ──> scenes(model) ──> Scene: operator, signature, shapes and values that are certain

A shape is certain where nothing but the file decides it: constants, inputs with a fixed shape, and what the
kernels make of them. Everything behind an open dimension, a value that only a run knows, or an operator whose
shapes are not known is not, and no rule may call it wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from weakref import WeakKeyDictionary

from outlive.finding import Evidence, Fault, OpPlace, Remedy, Sighting, Tag
from outlive.kernels.litert.shapes.outcome import Outcome, Outcomes, View
from outlive.kernels.litert.shapes.rulebook import outcomes_of
from outlive.kernels.litert.tensor_table import Shape, TensorTable, Values, open_table
from outlive.model import Model, Operator, Subgraph, Tensor
from outlive.rules.operator.signatures import Signature, signatures
from outlive.rules.wording import file_name, operator_name, operator_place

# A file can have any number of wrong operators; whoever mends it starts with the first ones.
MOST_SIGHTINGS = 20
CONVERT_AGAIN = Remedy(
    "convert the model again; if a tool edited it, look for the mistake there", Tag.CHANGES_MODEL
)


@dataclass(frozen=True, slots=True)
class Scene:
    """One operator and what is known of its tensors."""

    subgraph: Subgraph
    operator: Operator
    table: TensorTable
    uncertain: frozenset[int]
    signature: Signature | None

    @property
    def view(self) -> View:
        """The operator as the rules of shapes see it."""
        return View(self.operator, self.table)

    @property
    def name(self) -> str:
        """The operator in words."""
        return operator_name(self.operator, self.subgraph.index)

    @property
    def place(self) -> OpPlace:
        """The operator in a finding."""
        return operator_place(self.operator, self.subgraph.index)

    def tensor(self, slot: str) -> Tensor | None:
        """The tensor in a slot such as `i0`; None if the slot is empty."""
        row = self.operator.inputs if slot[0] == "i" else self.operator.outputs
        position = int(slot[1:])
        index = row[position] if position < len(row) else -1
        return self.subgraph.tensors[index] if 0 <= index < len(self.subgraph.tensors) else None

    def slots(self, word: str) -> Iterator[str]:
        """The slots a word stands for: `i*` is all inputs."""
        if not word.endswith("*"):
            yield word
            return
        row = self.operator.inputs if word[0] == "i" else self.operator.outputs
        yield from (f"{word[0]}{position}" for position in range(len(row)))

    def dtype(self, slot: str) -> str:
        """The type the kernel finds in a slot; empty if the slot is."""
        tensor = self.tensor(slot)
        if tensor is None:
            return ""
        return self.table.dtypes[tensor.index] if slot[0] == "i" else tensor.dtype

    def shape(self, slot: str) -> Shape | None:
        """The shape in a slot, if it is certain."""
        tensor = self.tensor(slot)
        if tensor is None or tensor.index in self.uncertain:
            return None
        return self.table.shapes[tensor.index]

    def values(self, slot: str) -> Values | None:
        """The integers in a slot, if the file decides them."""
        tensor = self.tensor(slot)
        if tensor is None or not self.table.known(tensor.index) or tensor.index in self.uncertain:
            return None
        return self.table.values(tensor.index)

    def number(self, name: str) -> int | None:
        """An option that is a number; None if the file does not have it."""
        value = self.operator.options.get(name) if self.operator.options is not None else None
        return int(value) if isinstance(value, (int, bool)) else None

    @property
    def is_whole(self) -> bool:
        """True if it has as many tensors as its kernel wants, and none that is needed is left out."""
        if self.signature is None:
            return False
        low, high = self.signature.inputs
        if not low <= len(self.operator.inputs) <= high:
            return False
        low, high = self.signature.outputs
        return low <= len(self.operator.outputs) <= high and not missing_slots(self)


def missing_slots(scene: Scene) -> list[str]:
    """Slots that need a tensor and have none."""
    if scene.signature is None:
        return []
    inputs = [
        f"input {position}"
        for position, tensor in enumerate(scene.operator.inputs)
        if tensor < 0 and position not in scene.signature.optional
    ]
    outputs = [f"output {position}" for position, tensor in enumerate(scene.operator.outputs) if tensor < 0]
    return inputs + outputs


def slot_words(scene: Scene, slot: str) -> str:
    """A slot in words: `input 1 (tensor 4 "weights")`."""
    kind = "input" if slot[0] == "i" else "output"
    tensor = scene.tensor(slot)
    named = "" if tensor is None else f' (tensor {tensor.index} "{tensor.name}")'
    return f"{kind} {slot[1:]}{named}"


def sight(
    model: Model,
    scene: Scene,
    facts: list[str],
    why: str,
    remedies: tuple[Remedy, ...] = (CONVERT_AGAIN,),
    source: str = "file",
    cause: str = "",
) -> Sighting:
    """What a rule says about one operator."""
    return Sighting(
        where=f"{file_name(model.path)}, {scene.name}",
        evidence=tuple(Evidence(fact, source) for fact in facts[:5]),
        why=why,
        remedies=remedies,
        fault=Fault.FILE,
        op=scene.place,
        cause=cause,
    )


Faults = Callable[[Scene], Iterator[str]]


def operators_with(
    faults: Faults, why: str, among: Callable[[Model], Iterable[Scene]] | None = None
) -> Callable[[Model], Iterator[Sighting]]:
    """A rule's generator: one sighting for each operator with faults, the first of them.

    The operators are those that have the tensors they need, or those that `among` gives.
    """

    def sight_faults(model: Model) -> Iterator[Sighting]:
        rows = (whole_scenes if among is None else among)(model)
        found = ((scene, facts) for scene in rows if (facts := list(islice(faults(scene), 5))))
        for scene, facts in islice(found, MOST_SIGHTINGS):
            yield sight(model, scene, facts, why)

    return sight_faults


_KNOWN: WeakKeyDictionary[Model, tuple[Scene, ...]] = WeakKeyDictionary()


def scenes(model: Model) -> tuple[Scene, ...]:
    """All operators of a model; worked out once."""
    if model not in _KNOWN:
        _KNOWN[model] = tuple(scene for subgraph in model.subgraphs for scene in _walk(subgraph))
    return _KNOWN[model]


def whole_scenes(model: Model) -> Iterator[Scene]:
    """The operators that have the tensors their kernels want: what else is wrong with them can be told."""
    return (scene for scene in scenes(model) if scene.is_whole)


def unresized_scenes(model: Model) -> Iterator[Scene]:
    """The operators of the main subgraph if nobody resizes an input: open sizes as in the file."""
    if any(tensor.is_dynamic for tensor in model.inputs):
        yield from (scene for scene in _walk(model.subgraphs[0], resized=False) if scene.is_whole)


def _walk(subgraph: Subgraph, resized: bool = True) -> Iterator[Scene]:
    table = open_table(subgraph, {})
    known = signatures()
    # What other subgraphs are given, their callers decide.
    fixed = () if subgraph.index else subgraph.input_indices
    uncertain = {
        tensor.index
        for tensor in subgraph.tensors
        if not table.constant(tensor.index)
        and (tensor.index not in fixed or (resized and tensor.is_dynamic))
        and not tensor.is_variable
    }
    rows: list[tuple[Operator, frozenset[int]]] = []
    for operator in subgraph.operators:
        _prepare(operator, table, uncertain)
        ends = {*operator.inputs, *operator.outputs}
        rows.append((operator, frozenset(ends & uncertain)))
    for operator, doubts in rows:
        yield Scene(subgraph, operator, table, doubts, known.get(operator.type))


def _prepare(operator: Operator, table: TensorTable, uncertain: set[int]) -> None:
    """What the kernel makes of its outputs, as far as that is certain."""
    outcomes = _outcomes(operator, table)
    unsure = outcomes is None or any(tensor in uncertain for tensor in operator.inputs)
    for position, tensor in enumerate(operator.outputs):
        if not 0 <= tensor < len(table.tensors) or table.constant(tensor):
            continue
        outcome = outcomes[position] if outcomes is not None and position < len(outcomes) else None
        if outcome is not None:
            _apply(outcome, tensor, table)
        if unsure or outcome is None or outcome.undecided or table.where[tensor] == "dynamic":
            uncertain.add(tensor)
        else:
            uncertain.discard(tensor)


def _outcomes(operator: Operator, table: TensorTable) -> Outcomes | None:
    try:
        return outcomes_of(View(operator, table))
    except (ArithmeticError, TypeError, LookupError):
        return None  # options and constants that no kernel would take: other rules say so


def _apply(outcome: Outcome, tensor: int, table: TensorTable) -> None:
    if outcome.dtype is not None:
        table.dtypes[tensor] = outcome.dtype
    if outcome.where is not None:
        table.where[tensor] = outcome.where
    if outcome.shape is not None:
        table.resize(tensor, outcome.shape)
    if outcome.values is not None:
        table.computed[tensor] = outcome.values
