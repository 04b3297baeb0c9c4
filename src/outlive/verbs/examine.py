"""Reads, checks, plans and runs one model, and asks on where that ends badly: for reports and for scans.

Reading ── check ── plan ── fits each device? ── run ── diagnose ── accelerators ── compare ── Examination

What `outlive report` and `outlive MODEL` give: an examination with its page, and with its document.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from outlive.accelerators import Coverage
from outlive.arena.budget import arena_for, device_budget, weigh
from outlive.arena.devices import Device
from outlive.arena.plan import Plan, Verdict
from outlive.atomic_files import write_whole
from outlive.diagnosis.diagnosis_record import Diagnosis
from outlive.diagnosis.examination import Examination
from outlive.errors import OutliveError, RuntimeMissing
from outlive.finding import Finding
from outlive.model import Model, Reading, Tensor
from outlive.planning.file_read import FileRead
from outlive.planning.planner import plan_model
from outlive.planning.verdicts import judge_plan
from outlive.process.flight import Flight, RunWithFindings
from outlive.process.limits import Limits
from outlive.quant import Drift
from outlive.records import ModelFile, ModelPath, in_document
from outlive.rendering import page_of
from outlive.rendering.media.html import render_html
from outlive.rendering.media.json import document_of
from outlive.rendering.page import PageVerdict
from outlive.rendering.pages.report import report_verdict
from outlive.rules import file_errors
from outlive.rules.checked import Checked
from outlive.verbs.checking import Criteria, check_reading, device_wish
from outlive.verbs.compare import compare
from outlive.verbs.delegates import delegates
from outlive.verbs.diagnose import diagnose
from outlive.verbs.judging import JUDGE
from outlive.verbs.run import run


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelReport(Examination):
    """All that was found out about a model, as one page that works offline: `.html`, `.save(path)`."""

    kind: ClassVar[str] = "report"

    @property
    def html(self) -> str:
        """The page: its data, style and script are in it, and it fetches nothing."""
        return render_html(page_of(self), document_of(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_whole(path, self.html)

    @property
    @in_document()
    def model(self) -> ModelFile:
        """The file."""
        return self.checked.model

    @property
    @in_document()
    def verdict(self) -> PageVerdict:
        """What it all comes to."""
        return report_verdict(self)

    @property
    @in_document()
    def inputs(self) -> tuple[Tensor, ...]:
        """What the model is fed."""
        return () if self.checked.reading.model is None else self.checked.reading.model.inputs

    @property
    @in_document()
    def outputs(self) -> tuple[Tensor, ...]:
        """What it gives."""
        return () if self.checked.reading.model is None else self.checked.reading.model.outputs

    @property
    @in_document(document=True)
    def check(self) -> Checked:
        """The findings of the check, without a run."""
        return self.checked

    @property
    @in_document("plan", document=True)
    def judged_plan(self) -> Plan | None:
        """The plan, with the verdict on it."""
        return None if self.plan is None else replace(self.plan, verdict=self.checked.verdict)

    @property
    @in_document(document=True)
    def run(self) -> RunWithFindings | None:
        """How it ran; None if it was not run."""
        return _run_part(self, self.flight_findings)

    @property
    @in_document(document=True)
    def diagnose(self) -> Diagnosis | None:
        """Why it ended badly; None if it did not."""
        return self.diagnosis

    @property
    @in_document(document=True)
    def delegates(self) -> Coverage | None:
        """The operators that each accelerator takes; None if they were not tried."""
        return None if self.coverage is None else replace(self.coverage, findings=self.coverage_findings)

    @property
    @in_document(document=True)
    def compare(self) -> Drift | None:
        """How far it is from its reference; None if there is none."""
        if self.drift is None:
            return None
        return replace(self.drift, reference_path=self.reference, candidate_path=self.checked.reading.path)

    @property
    @in_document("findings")
    def all_findings(self) -> tuple[Finding, ...]:
        """Everything that was found, each once, the worst first."""
        return self.findings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Checkup(Examination):
    """What `outlive MODEL` finds out: everything on one screen."""

    kind: ClassVar[str] = "checkup"

    @property
    @in_document(document=True)
    def read(self) -> FileRead:
        """The contents of the file."""
        return FileRead(reading=self.checked.reading, judgement=self.checked.judgement)

    @property
    @in_document("plan", document=True)
    def judged_plan(self) -> Plan | None:
        """What memory it needs."""
        return self.plan

    @property
    @in_document(document=True)
    def run(self) -> RunWithFindings | None:
        """The run, with silent failures; None if it was not run."""
        known = self.checked.judgement.findings
        return _run_part(self, tuple(item for item in self.flight_findings if item not in known))

    @property
    @in_document(document=True)
    def diagnose(self) -> Diagnosis | None:
        """Why it ended badly; None if it did not."""
        return self.diagnosis


def _run_part(seen: Examination, findings: tuple[Finding, ...]) -> RunWithFindings | None:
    if seen.flight is None:
        return None
    model = ModelPath(path=seen.checked.reading.path)
    return RunWithFindings(model=model, flight=seen.flight, findings=findings)


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
    from outlive.interpreter.ladder import run_arguments
    from outlive.interpreter.recorded_run import RunInputs, record_run, with_inner_tensors
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
