"""Operators one by one, with their tensors as the runtime has them when the kernel is prepared.

    model ──> operators_of(model) ──> PreparedOperator: signature, shapes and values that are certain

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
from outlive.kernels.litert.kernel import PreparedOutputs
from outlive.kernels.litert.kernel_signatures import KernelSignature, signatures
from outlive.kernels.litert.registry import prepared_outputs
from outlive.kernels.litert.tensor_table import TensorTable, Values, open_table
from outlive.kernels.litert.view import PrepareView
from outlive.kernels.view import Shape
from outlive.model import Model, Operator, Subgraph, Tensor
from outlive.rules.wording import file_name, operator_location, operator_name, operator_place

# A file can have any number of wrong operators; the first ones are enough to begin with.
MOST_SIGHTINGS = 20
CONVERT_AGAIN = Remedy(
    "convert the model again; if a tool edited the file, check that tool", Tag.CHANGES_MODEL
)


@dataclass(frozen=True, slots=True)
class PreparedOperator:
    """One operator and what is known of its tensors."""

    subgraph: Subgraph
    operator: Operator
    table: TensorTable
    uncertain: frozenset[int]
    signature: KernelSignature | None

    @property
    def view(self) -> PrepareView:
        """The operator as its kernel sees it."""
        return PrepareView(self.operator, self.table)

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

    def describe(self, slot: str) -> str:
        """A slot in words: `input 1 (tensor 4 "weights")`."""
        kind, tensor = "input" if slot[0] == "i" else "output", self.tensor(slot)
        named = "" if tensor is None else f' (tensor {tensor.index} "{tensor.name}")'
        return f"{kind} {slot[1:]}{named}"

    def missing_slots(self) -> list[str]:
        """Slots that need a tensor and have none, in words."""
        if self.signature is None:
            return []
        optional, sides = self.signature.optional, (self.operator.inputs, self.operator.outputs)
        inputs, outputs = ([at for at, tensor in enumerate(side) if tensor < 0] for side in sides)
        needed = [f"input {at}" for at in inputs if at not in optional]
        return needed + [f"output {at}" for at in outputs]

    @property
    def is_whole(self) -> bool:
        """True if it has as many tensors as its kernel wants, and none that is needed is left out."""
        if self.signature is None:
            return False
        low, high = self.signature.inputs
        if not low <= len(self.operator.inputs) <= high:
            return False
        low, high = self.signature.outputs
        return low <= len(self.operator.outputs) <= high and not self.missing_slots()


def sight(
    model: Model,
    op: PreparedOperator,
    facts: list[str],
    why: str,
    remedies: tuple[Remedy, ...] = (CONVERT_AGAIN,),
    source: str = "file",
    cause: str = "",
) -> Sighting:
    """What a rule says about one operator. A fact is `value; reason`: the first value is in the headline."""
    value, _, reason = facts[0].partition("; ")
    return Sighting(
        where=f"{file_name(model.path)}, {operator_location(op.operator, op.subgraph)}",
        value=value,
        evidence=tuple(Evidence(fact, source) for fact in facts[:5]),
        why=reason or why,
        remedies=remedies,
        fault=Fault.FILE,
        op=op.place,
        cause=cause,
    )


Faults = Callable[[PreparedOperator], Iterator[str]]


def operators_with(
    faults: Faults, why: str, among: Callable[[Model], Iterable[PreparedOperator]] | None = None
) -> Callable[[Model], Iterator[Sighting]]:
    """A rule's generator: one sighting for each operator with faults, the first of them.

    The operators are those that have the tensors they need, or those that `among` gives.
    """

    def sight_faults(model: Model) -> Iterator[Sighting]:
        rows = (complete_operators if among is None else among)(model)
        found = ((op, facts) for op in rows if (facts := list(islice(faults(op), 5))))
        for op, facts in islice(found, MOST_SIGHTINGS):
            yield sight(model, op, facts, why)

    return sight_faults


_KNOWN: WeakKeyDictionary[Model, tuple[PreparedOperator, ...]] = WeakKeyDictionary()


def operators_of(model: Model) -> tuple[PreparedOperator, ...]:
    """All operators of a model; worked out once."""
    if model not in _KNOWN:
        _KNOWN[model] = tuple(op for subgraph in model.subgraphs for op in _walk(subgraph))
    return _KNOWN[model]


def complete_operators(model: Model) -> Iterator[PreparedOperator]:
    """The operators that have the tensors their kernels want: what else is wrong with them can be told."""
    return (op for op in operators_of(model) if op.is_whole)


def unresized_operators(model: Model) -> Iterator[PreparedOperator]:
    """The operators of the main subgraph if no input is resized: open sizes as in the file."""
    if any(tensor.is_dynamic for tensor in model.inputs):
        yield from (op for op in _walk(model.subgraphs[0], resized=False) if op.is_whole)


def _walk(subgraph: Subgraph, resized: bool = True) -> Iterator[PreparedOperator]:
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
        yield PreparedOperator(subgraph, operator, table, doubts, known.get(operator.type))


def _prepare(operator: Operator, table: TensorTable, uncertain: set[int]) -> None:
    """What the kernel makes of its outputs, as far as that is certain."""
    outcomes = _outcomes(operator, table)
    unsure = outcomes is None or any(tensor in uncertain for tensor in operator.inputs)
    for position, tensor in enumerate(operator.outputs):
        if not 0 <= tensor < len(table.tensors) or table.constant(tensor):
            continue
        outcome = outcomes[position] if outcomes is not None and position < len(outcomes) else None
        if outcome is not None:
            table.apply(tensor, outcome)
        if unsure or outcome is None or outcome.undecided or table.where[tensor] == "dynamic":
            uncertain.add(tensor)
        else:
            uncertain.discard(tensor)


def _outcomes(operator: Operator, table: TensorTable) -> PreparedOutputs | None:
    try:
        return prepared_outputs(PrepareView(operator, table))
    except (ArithmeticError, TypeError, LookupError):
        return None  # options and constants that no kernel would take: other rules say so
