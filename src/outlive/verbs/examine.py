"""Reads, checks, plans and runs one model, and asks on where that ends badly: for reports and for scans.

Reading ── check ── plan ── fits each device? ── run ── diagnose ── accelerators ── compare ── Examination
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from outlive.arena.arena_size import arena_for
from outlive.arena.budget import device_budget, weigh
from outlive.arena.devices import Device
from outlive.arena.plan import Plan, Verdict
from outlive.diagnosis.diagnosis_record import Diagnosis
from outlive.diagnosis.examination import Examination
from outlive.errors import OutliveError, RuntimeMissing
from outlive.model import Model, Reading
from outlive.planning.planner import plan_model
from outlive.planning.verdicts import judge_plan
from outlive.process.flight import Flight
from outlive.process.limits import Limits
from outlive.rules import file_errors
from outlive.verbs.checking import Criteria, check_reading, device_wish
from outlive.verbs.compare import compare
from outlive.verbs.delegates import delegates
from outlive.verbs.diagnose import diagnose
from outlive.verbs.judging import JUDGE
from outlive.verbs.run import run

Tell = Callable[[str], None]
# Waits until a model may be run; gives why it may not, or nothing.
Admit = Callable[[Examination], AbstractContextManager[str]]
# What the runtime or we raise because of what was called, or because of the model.
_CALL_ERRORS = (OutliveError, ValueError, TypeError, IndexError, KeyError, RuntimeError, MemoryError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamineRequest:
    """What is to be found out about a model. With `briefly` a run is not repeated with other inputs."""

    criteria: Criteria
    devices: tuple[Device, ...] = ()
    run: bool = True
    inputs: Any = None
    limits: Limits = field(default_factory=Limits)
    repeat: int = 1
    briefly: bool = False
    delegates: bool = False
    reference: Any = None
    samples: Any = None
    result: type[Examination] = Examination

    @property
    def accelerator(self) -> str:
        """What it is run on: what it is planned for, where that can be run here."""
        planned = self.criteria.wish.accelerator
        return planned if planned in ("cpu", "builtin", "reference") else "cpu"


def examine_model(
    reading: Reading,
    request: ExamineRequest,
    tell: Tell = lambda _: None,
    admit: Admit = lambda _: nullcontext(""),
) -> Examination:
    """What each part comes to. Nothing is raised for what a model is or does, but for values given for it."""
    tell("checking")
    seen = request.result(checked=check_reading(reading, request.criteria))
    model = reading.model
    if model is None:
        return seen
    is_sound = not file_errors(reading)
    if is_sound:
        tell("planning")
        seen = _planned(seen, model, request)
    if request.run:
        with admit(seen) as problem:
            tell("running")
            seen = replace(seen, not_run=problem) if problem else _ran(seen, model, request, tell)
    if request.delegates and is_sound and model.subgraphs:
        with admit(seen) as problem:
            seen = _accelerated(seen, model, request, tell, problem)
    return _compared(seen, model, request, tell) if request.reference is not None else seen


def _planned(seen: Examination, model: Model, request: ExamineRequest) -> Examination:
    """With the plan and its findings, and whether it fits each device."""
    plan, note = seen.checked.verdict.plan if seen.checked.verdict is not None else None, ""
    try:
        plan = plan or plan_model(model, request.criteria.wish)
    except Exception as error:
        # As in a check: what one part cannot do must not cost what the others found, and is said.
        note = f"not planned: {type(error).__name__}: {error}"
    return replace(
        seen,
        plan=plan,
        # What the runtime refuses, the check has said already.
        plan_findings=() if plan is None or plan.refusals else judge_plan(plan, seen.checked.verdict),
        fits=tuple((device, _fit(model, device, plan)) for device in request.devices),
        notes=(*seen.notes, note) if note else seen.notes,
    )


def _fit(model: Model, device: Device, plan: Plan | None) -> Verdict | None:
    try:
        wish = device_wish(device, None)
        # A plan for a microcontroller is one for its kernels and its layout of structures.
        if plan is None or wish.accelerator != plan.accelerator or wish.accelerator == "tflm":
            plan = plan_model(model, wish)
        return weigh(plan, device_budget(device), arena=arena_for(model, plan, wish.abi))
    except Exception:
        return None


def _ran(seen: Examination, model: Model, request: ExamineRequest, tell: Tell) -> Examination:
    """With the run and its findings, and the diagnosis if it ended badly."""
    source = _runnable(model)
    flight: Flight | None = None
    try:
        flight = _fly(source, request)
    except RuntimeMissing:
        raise
    except _CALL_ERRORS:
        if request.inputs is not None:
            raise  # what was given is at fault
    if flight is None or flight.died or flight.error_type:
        return replace(seen, flight=flight, diagnosis=_diagnosis(source, flight, request, tell))
    return replace(seen, flight=flight, flight_findings=flight.findings)


def _fly(source: str | Model, request: ExamineRequest) -> Flight:
    if not request.briefly:
        words: dict[str, Any] = {"limits": request.limits, "accelerator": request.accelerator}
        return run(source, request.inputs, repeat=request.repeat, **words)
    from outlive.interpreter.inner_tensors import RunInputs, with_inner_tensors
    from outlive.interpreter.ladder import run_arguments
    from outlive.interpreter.recorded_run import record_run
    from outlive.verbs.read import content_of

    given = {"model_path": source} if isinstance(source, str) else {"model_content": content_of(source)}
    given |= {"memory": request.limits.memory_bytes, **run_arguments(request.accelerator)}
    flight = record_run(
        request.inputs, request.repeat, 0, judge=JUDGE, seconds=request.limits.seconds, **given
    )
    return with_inner_tensors(flight, RunInputs(inputs=request.inputs), given, vary=False)


def _diagnosis(source: str | Model, flight: Flight | None, request: ExamineRequest, tell: Tell) -> Diagnosis:
    found = diagnose(
        source, request.inputs, limits=request.limits, accelerator=request.accelerator, tell=tell
    )
    # Where it went well the second time, what is known is the first.
    return diagnose(flight, tell=tell) if found.verdict is None and flight is not None else found


def _runnable(model: Model) -> str | Model:
    """What a worker opens: the file where there is one, so that it is mapped and not copied."""
    return model.path if model.path is not None and os.path.isfile(model.path) else model


def _accelerated(
    seen: Examination, model: Model, request: ExamineRequest, tell: Tell, problem: str
) -> Examination:
    """With what each accelerator takes and does, or why that is not known."""
    if problem:
        return replace(seen, notes=(*seen.notes, f"accelerators not tried: {problem}"))
    try:
        coverage = delegates(_runnable(model), inputs=request.inputs, limits=request.limits, tell=tell)
    except (OutliveError, ValueError, OSError, RuntimeError) as error:
        note = f"accelerators not tried: {type(error).__name__}: {error}"
        return replace(seen, notes=(*seen.notes, note))
    return replace(seen, coverage=coverage, coverage_findings=coverage.findings)


def _compared(seen: Examination, model: Model, request: ExamineRequest, tell: Tell) -> Examination:
    """With the comparison, or why there is none: what else was found out is worth a page all the same."""

    def say(turn: int, turns: int, sample: int) -> None:
        tell(f"comparing: sample {sample}")

    given = request.reference
    name = os.fspath(given) if isinstance(given, (str, os.PathLike)) else getattr(given, "path", None) or ""
    try:
        drift = compare(given, _runnable(model), request.samples, tell=say)
    except OutliveError as error:
        return replace(seen, drift_findings=error.findings, reference=name)
    return replace(seen, drift=drift, drift_findings=drift.findings, reference=name)
