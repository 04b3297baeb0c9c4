"""`diagnose`: why a model dies, hangs or is refused."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from outlive.diagnosis.diagnosis_case import diagnose_case, open_case
from outlive.diagnosis.diagnosis_record import Diagnosis
from outlive.diagnosis.error_diagnosis import diagnose_error, diagnose_flight
from outlive.diagnosis.smallest_model import with_reproducer
from outlive.diagnosis.verdict import with_call_cause
from outlive.finding import Finding
from outlive.model import Model, Source
from outlive.planning.planner import make_feed
from outlive.process.flight import Flight
from outlive.process.limits import Limits
from outlive.rules import judge
from outlive.verbs.judging import JUDGE
from outlive.verbs.progress import heard
from outlive.verbs.read import content_of, parse_inputs


@heard
def diagnose(
    source: Source | Model | Flight | BaseException,
    inputs: Any = None,
    *,
    memory: str | int | None = None,
    seconds: float | None = None,
    accelerator: str = "cpu",
    threads: int | None = None,
    reduce: str | os.PathLike[str] | None = None,
    bundle: str | os.PathLike[str] | None = None,
    with_weights: bool = False,
    limits: Limits | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Diagnosis:
    """Find out why a model dies, hangs or is refused: `.cause`, `.verdict`, `.op`, `.works_with`.

    The model runs as it is and then, if that ends badly, with one change at a time, each in its own worker.
    `inputs`, `memory`, `seconds` (default 8), `limits` and `accelerator` are as for `run`. Give a `Flight`,
    or an exception that you caught, to judge a run that is over. `reduce` is the file for the smallest model
    that ends the same way, with a script beside it; `bundle` is a .zip file for a bug report, with the model
    itself only `with_weights`. `tell` hears what is being tried.

    >>> outlive.diagnose("deadly.tflite").cause
    'option-out-of-range'
    """
    limits, given = limits or Limits(memory=memory, seconds=seconds), parse_inputs(inputs)
    if isinstance(source, Flight):
        diagnosis = diagnose_flight(source)
    elif isinstance(source, BaseException):
        diagnosis = diagnose_error(source)
    else:
        case = open_case(source, given, limits, accelerator, threads, _judge_values, judge=JUDGE)
        diagnosis = replace(diagnose_case(case, tell), source=case.model)
        if reduce is not None:
            diagnosis = with_reproducer(diagnosis, case, os.fspath(reduce), tell)
    if bundle is not None:
        from outlive.rendering.diagnosis_bundle import write_bundle

        tell("writing the bundle")
        write_bundle(diagnosis, os.fspath(bundle), _weights(source, diagnosis) if with_weights else None)
    return diagnosis


def _weights(source: Any, diagnosis: Diagnosis) -> str | bytes | None:
    """The model to send along, by path or as bytes; None where only a run or an exception was given."""
    if diagnosis.path is not None or isinstance(source, (Flight, BaseException)):
        return diagnosis.path
    return content_of(source)


def _judge_values(model: Model, inputs: Any) -> tuple[Finding, ...]:
    """What the rules on given values say; nothing of values for inputs that there are not."""
    try:
        feed = make_feed(model, inputs)
    except (ValueError, TypeError):
        return ()
    found = judge({"inputs": feed}).findings
    return tuple(map(with_call_cause, found))
