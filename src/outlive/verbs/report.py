"""`report`: all that can be found out about a model, as one page to look at and to send."""

from collections.abc import Callable
from typing import Any, cast

from outlive.arena.devices import Device
from outlive.model import Model, Source
from outlive.process.limits import Limits
from outlive.verbs.checking import make_criteria
from outlive.verbs.examine import Checkup, ExamineRequest, ModelReport, examine_model
from outlive.verbs.read import parse_inputs, reading_of

# A check-up is asked for by somebody who waits.
SECONDS = 30.0


def report(
    source: Source | Model,
    *,
    ram: str | int | None = None,
    device: str | Device | None = None,
    here: bool = False,
    run: bool = True,
    accelerator: str | None = None,
    inputs: Any = None,
    repeat: int = 3,
    memory: str | int | None = None,
    seconds: float = SECONDS,
    delegates: bool = False,
    reference: Source | Model | None = None,
    samples: Any = None,
    tell: Callable[[str], None] = lambda _: None,
) -> ModelReport:
    """Write a report on a model as one page: `.html` is the page, `.save(path)` writes it.

    The model is read, checked (against `ram`, a `device` or this machine with `here`), planned, and unless
    `run` is False run in a worker, and diagnosed if that ends badly. `inputs`, `repeat`, `memory` and
    `seconds` are as for `run`; `accelerator` is what it is planned for and run on. `delegates` tries each
    accelerator of this machine; `reference` is the model that it was made from, to compare it with on
    `samples`. `tell` hears what is being done.

    >>> outlive.report("healthy.tflite", run=False)
    ModelReport(healthy.tflite: 1 finding)
    """
    if samples is not None and reference is None:
        raise ValueError("samples need a model to compare with: pass --reference FLOAT")
    if repeat < 1:
        raise ValueError("repeat takes a number of at least 1")
    if not run and (delegates or reference is not None):
        raise ValueError("delegates and reference run the model: leave --no-run out")
    request = ExamineRequest(
        criteria=make_criteria(device=device, ram=ram, here=here, accelerator=accelerator),
        run=run,
        inputs=parse_inputs(inputs),
        limits=Limits(memory=memory, seconds=seconds),
        repeat=repeat,
        delegates=delegates,
        reference=reference,
        samples=samples,
        result=ModelReport,
    )
    return cast("ModelReport", examine_model(reading_of(source), request, tell))


def checkup(source: Source | Model, tell: Callable[[str], None] = lambda _: None) -> Checkup:
    """What `outlive MODEL` tells: read, checked, planned, run once, and diagnosed if that ends badly."""
    request = ExamineRequest(criteria=make_criteria(), limits=Limits(seconds=SECONDS), result=Checkup)
    return cast("Checkup", examine_model(reading_of(source), request, tell))
