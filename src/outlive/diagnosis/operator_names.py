"""Puts the model's names to what flights saw: which operator is meant, which read a broken part. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from outlive.diagnosis.diagnosis_record import Diagnosis, Trial
from outlive.finding import Finding, shell_path
from outlive.model import Model, Operator, Reading, Subgraph
from outlive.process.flight import OpSeen

_LOOPS = frozenset({"WHILE", "STABLEHLO_WHILE"})
# Where the reader met a flaw: `buffer 3`, `subgraph 0, tensor 12`, `subgraph 0, operator 4`.
_FILE = re.compile(r"\bFILE\b")
_BUFFER = re.compile(r"\bbuffer (\d+)\b")
_SUBGRAPH = re.compile(r"\bsubgraph (\d+)\b")
_TENSOR = re.compile(r"\btensor (\d+)\b")
_OPERATOR = re.compile(r"\b(?:operator|op) (\d+)\b")


def with_path(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis with the model's path in its commands, where rules could only say FILE."""
    if diagnosis.path is None:
        return diagnosis
    name = shell_path(diagnosis.path)
    verdict = None if diagnosis.verdict is None else _about(diagnosis.verdict, name)
    findings = tuple(_about(item, name) if item.code[:1] in "DS" else item for item in diagnosis.findings)
    return replace(diagnosis, verdict=verdict, findings=findings)


def _about(finding: Finding, name: str) -> Finding:
    def named(words: str) -> str:
        return _FILE.sub(lambda _: name, words)

    remedies = (
        replace(item, action=named(item.action), command=named(item.command)) for item in finding.remedies
    )
    return replace(finding, remedies=tuple(remedies))


def operators_where(
    model: Model | None, is_meant: Callable[[Subgraph, Operator], bool] = lambda graph, operator: True
) -> tuple[OpSeen, ...]:
    """The operators of a model, all or those that are meant; none without a model."""
    return tuple(
        OpSeen(type=operator.name, subgraph=graph.index, index=operator.index)
        for graph in (() if model is None else model.subgraphs)
        for operator in graph.operators
        if is_meant(graph, operator)
    )


def loops_in(model: Model | None) -> tuple[OpSeen, ...]:
    """The operators that can run in a circle."""
    return operators_where(model, lambda graph, operator: operator.name in _LOOPS)


def hollow_in(model: Model | None) -> tuple[OpSeen, ...]:
    """The operators that read weights without elements: a shape with a zero, and bytes behind it."""
    return operators_where(
        model,
        lambda graph, operator: any(
            0 <= index < len(graph.tensors)
            and graph.tensors[index].is_constant
            and 0 in graph.tensors[index].shape
            for index in operator.inputs
        ),
    )


def placed(trial: Trial, model: Model | None) -> Trial:
    """The trial with the index of its operator, where only one of the model can be meant."""
    seen = trial.flight.op
    kinds = {seen.type} if seen is not None else set(trial.flight.op_candidates)
    if not kinds or model is None or (seen is not None and seen.index is not None):
        return trial
    places = [place for place in operators_where(model) if place.type in kinds]
    if len({place.type for place in places}) != 1:
        return trial
    op = places[0] if len(places) == 1 else OpSeen(type=places[0].type)
    return replace(trial, flight=replace(trial.flight, op=op))


def owners_of(reading: Reading) -> tuple[OpSeen, ...]:
    """Operators that read what is broken in the file: the tensor, or the buffer behind it."""
    model = reading.model
    if model is None:
        return ()
    found: dict[OpSeen, None] = {}
    for flaw in reading.flaws:
        for place in _of_flaw(model, f"{flaw.place}, {flaw.detail}"):
            found.setdefault(place)
    return tuple(found)


def _of_flaw(model: Model, words: str) -> list[OpSeen]:
    found, numbered = _SUBGRAPH.search(words), _OPERATOR.search(words)
    number = int(found.group(1)) if found else 0
    if numbered is not None:
        wanted = (number, int(numbered.group(1)))
        return [place for place in operators_where(model) if (place.subgraph, place.index) == wanted]
    tensors: set[tuple[int, int]] = set()
    tensor, buffer = _TENSOR.search(words), _BUFFER.search(words)
    if tensor is not None:
        tensors.add((number, int(tensor.group(1))))
    elif buffer is not None:
        tensors |= _with_buffer(model, int(buffer.group(1)))
    return list(
        operators_where(
            model, lambda graph, operator: any((graph.index, index) in tensors for index in operator.inputs)
        )
    )


def _with_buffer(model: Model, buffer: int) -> set[tuple[int, int]]:
    return {
        (subgraph.index, tensor.index)
        for subgraph in model.subgraphs
        for tensor in subgraph.tensors
        if tensor.buffer_index == buffer
    }
