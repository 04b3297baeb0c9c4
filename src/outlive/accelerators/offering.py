"""Which operators an accelerator refuses, where its own report names only types and reasons.

    RESHAPE: Tensor dimensions must be less than 5. block/attn/reshape     by the tensor's name
    VAR_HANDLE: Operation is not supported.                                all of the type
    STRIDED_SLICE: Slice does not support shrink_axis_mask parameter.      each one cut out and offered

Operators that look the same to an accelerator are offered once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from outlive.accelerators.gpu_report import GpuReport
from outlive.model import Model, Operator, Subgraph
from outlive.surgery import Request, cut_model

# Offering takes a third of a second: operators of one form are offered once, and not more forms than this.
_MOST_OFFERS, _MOST_SECONDS = 40, 20.0
_WHOLE_TYPE = "Operation is not supported."
OWN_REPORT, OFFERED = "its own report", "the operator alone, offered to it"

# Why the accelerator refuses a model of one operator; empty if it takes it, None if that cannot be told.
Offer = Callable[[bytes], str | None]


@dataclass(slots=True)
class Settled:
    """What is known of each operator: why it is refused and who says so; `open` are types left undecided."""

    refused: dict[int, tuple[str, str]] = field(default_factory=dict)
    open: list[tuple[str, str]] = field(default_factory=list)


def settle(model: Model, report: GpuReport, offer: Offer) -> Settled:
    """Find the operators that a report of the main subgraph means."""
    subgraph = model.subgraphs[0]
    settled = Settled()
    offering = Offering(model, offer)
    for kind, reason in report.refused:
        of_kind = [operator for operator in subgraph.operators if kind in (operator.type, operator.name)]
        named = _named(subgraph, of_kind, reason)
        if reason == _WHOLE_TYPE or len(of_kind) == 1:
            named = of_kind
        for operator in named:
            settled.refused.setdefault(operator.index, (reason, OWN_REPORT))
        if not named:
            _offer_each(offering, of_kind, reason, settled)
    return settled


def offer_all(model: Model, offer: Offer) -> Settled:
    """Offer every operator of the main subgraph by itself, where an accelerator has no report at all."""
    settled, offering = Settled(), Offering(model, offer)
    for operator in model.subgraphs[0].operators:
        said = offering.ask(operator)
        if said is None:
            settled.open.append((operator.name, ""))
        elif said:
            settled.refused[operator.index] = (said, OFFERED)
    return settled


def _offer_each(offering: Offering, of_kind: Sequence[Operator], reason: str, settled: Settled) -> None:
    undecided = False
    for operator in of_kind:
        said = offering.ask(operator)
        undecided = undecided or said is None
        if said:
            settled.refused.setdefault(operator.index, (reason, OFFERED))
    if undecided and of_kind:
        settled.open.append((of_kind[0].name, reason))


def _named(subgraph: Subgraph, operators: Sequence[Operator], reason: str) -> list[Operator]:
    """The operators that read or write a tensor whose name the reason ends with, or quotes."""
    return [
        operator
        for operator in operators
        if any(
            _mentions(reason, subgraph.tensors[index].name)
            for index in (*operator.inputs, *operator.outputs)
            if 0 <= index < len(subgraph.tensors)
        )
    ]


def _mentions(reason: str, name: str) -> bool:
    return bool(name) and (reason.endswith(f" {name}") or f'"{name}"' in reason)


class Offering:
    """Cuts operators out of a model and offers them; operators of one form are offered once."""

    def __init__(self, model: Model, offer: Offer) -> None:
        """Nothing is offered yet."""
        self._model, self._offer = model, offer
        self._answers: dict[object, str | None] = {}
        self._end = time.monotonic() + _MOST_SECONDS

    def ask(self, operator: Operator) -> str | None:
        """Why this operator alone is refused; empty if it is taken, None if that cannot be told."""
        form = self._form(operator)
        if form not in self._answers:
            if len(self._answers) >= _MOST_OFFERS or time.monotonic() > self._end:
                return None
            self._answers[form] = self._try(operator.index)
        return self._answers[form]

    def _try(self, index: int) -> str | None:
        try:
            part = cut_model(self._model, Request(ops=index))
        except ValueError:
            return None
        said = self._offer(part.model) if len(part.ops) == 1 else None
        return self._nameless(said, index) if said else said

    def _nameless(self, said: str, index: int) -> str:
        """A reason without the name of this operator's tensor: it is told of others of the same form too."""
        subgraph = self._model.subgraphs[0]
        operator = subgraph.operators[index]
        for tensor in (*operator.inputs, *operator.outputs):
            name = subgraph.tensors[tensor].name if 0 <= tensor < len(subgraph.tensors) else ""
            if name and said.endswith(f" {name}"):
                return said.removesuffix(f" {name}")
        return said

    def _form(self, operator: Operator) -> object:
        """What two operators have in common that an accelerator cannot tell apart."""
        tensors = self._model.subgraphs[0].tensors
        ends = tuple(
            (tensors[i].shape, tensors[i].dtype, tensors[i].is_constant, tensors[i].quantization is not None)
            if 0 <= i < len(tensors)
            else None
            for i in (*operator.inputs, -1, *operator.outputs)
        )
        options = operator.options
        values = () if options is None else tuple(sorted((k, repr(v)) for k, v in options.values.items()))
        return operator.name, operator.version, ends, values, self._small_constants(operator)

    def _small_constants(self, operator: Operator) -> tuple[bytes, ...]:
        """Constants that steer (axes, paddings, shapes), not weights."""
        tensors = self._model.subgraphs[0].tensors
        given = [tensors[i] for i in operator.inputs if 0 <= i < len(tensors)]
        return tuple(
            bytes(tensor.data or b"") for tensor in given if tensor.has_data and tensor.stored_bytes <= 64
        )
