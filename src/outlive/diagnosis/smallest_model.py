"""The smallest model found that ends the same way, written beside a script that shows it.

prefix that ends so ──► its last operator alone ──► ... with the values it really gets
                    ──► the last 2, 4, 8 ... operators ──► the prefix itself
what was found ──► smaller and smaller tensors (shrinking.py)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from outlive.atomic_files import write_whole
from outlive.diagnosis.diagnosis_record import Diagnosis, Reproducer, Trial
from outlive.diagnosis.input_probes import feedable, usual
from outlive.diagnosis.investigation import Case
from outlive.diagnosis.prefix_bisection import cut_or_none, ends_like, first_needed, part_conditions, same_end
from outlive.diagnosis.repro_script import write_script
from outlive.diagnosis.smaller_tensors import shrink
from outlive.diagnosis.trial_run import attempt
from outlive.model import Model, read_source
from outlive.surgery import Cut, CutRequest
from outlive.units import plural

_PART_S = 5.0
_HUNG_S = 2.0
_ENOUGH_S = 60.0
_SHRINKING_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reduced:
    """A part that ends like the whole, and what it is fed: None for the usual inputs."""

    model: bytes
    ops: tuple[int, ...]
    inputs: Any


def with_reproducer(diagnosis: Diagnosis, case: Case, path: str, tell: Callable[[str], None]) -> Diagnosis:
    """The diagnosis with the smallest model written to `path`, and `repro.py` beside it.

    Nothing is written for a model that runs. A file that is broken cannot be cut: it is copied whole.
    """
    end = diagnosis.end
    if end is None or not case.conditions.source:
        return diagnosis
    tell("reducing the model to fewer operators")
    found = reduce_case(case, end, diagnosis.op.index if diagnosis.op else None)
    tell(f"reducing the tensors of {plural(len(found.ops), 'operator')}")
    found = shrink_case(case, end, found)
    target = Path(path)
    write_whole(target, found.model)
    script = write_script(target, found.model, end, found.inputs, diagnosis)
    made = Reproducer(path=path, ops=found.ops, bytes=len(found.model), script=str(script))
    return replace(diagnosis, reproducer=made)


def reduce_case(case: Case, end: Trial, guess: int | None) -> Reduced:
    """The smallest part found; the whole if nothing smaller ends so, or it cannot be cut."""
    whole = _whole(case, end)
    model = case.model
    if not case.sound or model is None or not model.subgraphs:
        return whole
    seconds = _HUNG_S if end.manner == "deadline" else _PART_S
    started = time.monotonic()
    for ops in _shrinking(model, end, seconds, guess):
        found = _same_end(model, ops, end, seconds)
        if found is not None:
            return found
        if time.monotonic() - started > _ENOUGH_S:
            break
    return whole


def shrink_case(case: Case, end: Trial, found: Reduced) -> Reduced:
    """The same operators with smaller tensors, as far as they still end so at the same operator."""
    seconds = _HUNG_S if end.manner == "deadline" else _PART_S
    started = time.monotonic()
    first = attempt("part", replace(end.conditions, source=found.model, inputs=found.inputs, seconds=seconds))
    if not case.sound or not same_end(first, end):
        return found

    def still_ends(model: bytes, inputs: Any) -> bool:
        trial = attempt("smaller", replace(first.conditions, source=model, inputs=inputs))
        return same_end(trial, end) and _place(trial) == _place(first)

    smaller = shrink(found.model, found.inputs, still_ends, lambda: time.monotonic() - started > _SHRINKING_S)
    return replace(found, model=smaller.model, inputs=smaller.inputs)


def _place(trial: Trial) -> tuple[str, str | None, tuple[str, ...]]:
    """Where it ended: stage, operator, and the innermost functions that have names."""
    flight = trial.flight
    named = tuple(frame for frame in flight.frames if "::" in frame)[:1]
    return flight.stage, None if flight.op is None else flight.op.type, named


def _shrinking(model: Model, end: Trial, seconds: float, guess: int | None) -> Iterator[tuple[int, ...]]:
    """Parts to try, the smallest first: one operator, more and more before it, the whole prefix."""
    started = time.monotonic()
    count = len(model.subgraphs[0].operators)
    if guess is not None and guess < count:
        yield (guess,)
    needed = first_needed(model, end, seconds, lambda: time.monotonic() - started > _ENOUGH_S / 2)
    last = needed.index if needed is not None and needed.index is not None else count - 1
    if last != guess:
        yield (last,)
    width = 2
    while width <= last:
        yield tuple(range(last + 1 - width, last + 1))
        width *= 2
    if last < count - 1 or last > 0:
        yield tuple(range(last + 1))


def _same_end(model: Model, ops: tuple[int, ...], end: Trial, seconds: float) -> Reduced | None:
    part = cut_or_none(model, CutRequest(ops=list(ops)))
    if part is None:
        return None
    if ends_like(model, part, end, seconds):
        conditions = part_conditions(model, part, end.conditions, seconds)
        return Reduced(model=part.model, ops=part.ops, inputs=conditions.inputs)
    values = _real_values(model, part, end, seconds)
    if values is not None and ends_like(model, part, end, seconds, values):
        return Reduced(model=part.model, ops=part.ops, inputs=values)
    return None


def _real_values(model: Model, part: Cut, end: Trial, seconds: float) -> list[Any] | None:
    """What the part's inputs hold in the whole: computed by all that comes before, which is sound."""
    inside = {item.original for item in part.inputs} - set(model.subgraphs[0].input_indices)
    if not inside:
        return None
    before = cut_or_none(model, CutRequest(outputs=sorted(inside)))
    if before is None:
        return None
    trial = attempt("before", part_conditions(model, before, end.conditions, seconds))
    if not trial.ran:
        return None
    named = {item.original: item.name for item in before.outputs}
    own = dict(usual(model)) if feedable(model) else {}
    return [
        trial.flight.values.get(named[item.original], "random")
        if item.original in named
        else own.get(item.original, "random")
        for item in part.inputs
    ]


def _whole(case: Case, end: Trial) -> Reduced:
    source = end.conditions.source
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    model = read_source(data).model
    count = len(model.subgraphs[0].operators) if model is not None and model.subgraphs else 0
    return Reduced(model=data, ops=tuple(range(count)), inputs=end.conditions.inputs)
