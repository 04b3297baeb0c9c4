"""Finds the operator that must be there for a model to end the way it does, by cutting prefixes.

    ops 0 .. n-1 dies ──► does 0 .. n/2 ? ──► ... ──► the first prefix that does: its last operator is needed

It answers another question than the native stack, which knows who was running; mostly the answers agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from outlive.diagnosis.diagnosis_record import Conditions, Trial
from outlive.diagnosis.input_probes import by_tensor, feedable, usual
from outlive.diagnosis.trial_run import attempt
from outlive.model import Model
from outlive.process.flight import OpSeen
from outlive.surgery import Cut, CutRequest, cut_model
from outlive.units import Step

_NUMBER = re.compile(r"\d+")


def first_needed(
    model: Model,
    end: Trial,
    seconds: float,
    enough: Callable[[], bool],
    tell: Callable[[str], None] = lambda step: None,
) -> OpSeen | None:
    """The last operator of the shortest prefix that ends like the whole; None if none does, or no time."""
    operators = model.subgraphs[0].operators
    low, high = 0, len(operators) - 1
    tries, most = 0, len(operators).bit_length() + 1
    while low < high:
        if enough():
            return None
        middle = (low + high) // 2
        tell(Step(f"locating the operator: trying operators 0 to {middle}", tries, most))
        tries += 1
        low, high = (low, middle) if prefix_ends_like(model, end, middle, seconds) else (middle + 1, high)
    if not operators or (not tries and len(operators) > 1):
        return None
    if high == len(operators) - 1 and len(operators) > 1 and not prefix_ends_like(model, end, high, seconds):
        return None  # cutting alone has changed how it ends
    return OpSeen(type=operators[high].name, index=high)


def prefix_ends_like(model: Model, end: Trial, last: int, seconds: float) -> bool:
    """True if the operators up to `last` end as the whole did."""
    part = cut_or_none(model, CutRequest(until=last))
    return part is not None and ends_like(model, part, end, seconds)


def ends_like(model: Model, part: Cut, end: Trial, seconds: float, values: Any = None) -> bool:
    """True if a part ends as the whole did, fed with `values` or with the whole's own inputs."""
    return same_end(attempt("part", part_conditions(model, part, end.conditions, seconds, values)), end)


def same_end(trial: Trial, end: Trial) -> bool:
    """True if a trial ended as another did: so far as a part can."""
    alike = trial.manner == end.manner and trial.flight.signal == end.flight.signal
    return alike and _gist(trial.flight.error_text) == _gist(end.flight.error_text)


def _gist(text: str) -> str:
    """A complaint without its numbers, which are others in a part; another complaint is another end."""
    return _NUMBER.sub("#", text)


def part_conditions(
    model: Model, part: Cut, conditions: Conditions, seconds: float, values: Any = None
) -> Conditions:
    """The conditions of the whole, for a part of it."""
    inputs = _inputs(model, part, conditions.inputs) if values is None else values
    limit = seconds if conditions.seconds is None else min(seconds, conditions.seconds)
    shapes = {
        item.index: conditions.shapes[item.original]
        for item in part.inputs
        if item.original in conditions.shapes
    }
    return replace(conditions, source=part.model, inputs=inputs, seconds=limit, shapes=shapes)


def cut_or_none(model: Model, request: CutRequest) -> Cut | None:
    """The part, or None where it cannot be cut."""
    try:
        return cut_model(model, request)
    except ValueError:
        return None


def _inputs(model: Model, part: Cut, given: Any) -> Any:
    """What the part's inputs are given: the whole's arrays where it has them, the usual ones elsewhere."""
    if given is None or isinstance(given, str):
        if not feedable(model):
            return given
        by_index: dict[int, Any] = dict(usual(model, given))
    else:
        by_index = by_tensor(model, given)
    return [by_index.get(item.original, "random") for item in part.inputs]
