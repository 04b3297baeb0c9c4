"""The page of `outlive report`: all that was found out about one model, verdict first.

Examination ── report_verdict ── the worst of: it died, it does not fit, it has errors; or: it runs
            ── report_page ── findings, why it died, memory, run, accelerators, drift, operators, the model
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from outlive.accelerators import Coverage
from outlive.arena.budget import needed_bytes
from outlive.arena.plan import Plan
from outlive.diagnosis.nouns import Diagnosis
from outlive.finding import Finding, Severity, shell_path
from outlive.fitting.checking import Checked
from outlive.model import Tensor
from outlive.quant.nouns import Drift
from outlive.records import NOT_WRITTEN, ModelFile, ModelPath, in_document, written
from outlive.rendering.finding_text import count_findings
from outlive.rendering.page import Command, Page, PageVerdict, Section, Tile, findings_sections
from outlive.rendering.pages.check import check_verdict
from outlive.rendering.pages.compare import drift_section
from outlive.rendering.pages.delegates import coverage_section
from outlive.rendering.pages.diagnose import diagnosis_section, diagnosis_verdict
from outlive.rendering.pages.plan import amount, plan_section, plan_tiles, plan_verdict
from outlive.rendering.pages.read import model_section, model_tiles, operators_section, what_is_known
from outlive.rendering.pages.run import flight_section, flight_tiles
from outlive.units import format_bytes
from outlive.worker.flight import Flight, RunTold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examination:
    """What each part came to; None where it was not asked for or not reached."""

    kind: ClassVar[str] = "report"

    checked: Checked = field(metadata=written("check", document=True))
    plan: Plan | None = field(default=None, metadata=NOT_WRITTEN)
    flight_findings: tuple[Finding, ...] = field(default=(), metadata=NOT_WRITTEN)
    flight: Flight | None = field(default=None, metadata=NOT_WRITTEN)
    diagnosis: Diagnosis | None = field(default=None, metadata=written("diagnose", document=True))
    coverage: Coverage | None = field(default=None, metadata=NOT_WRITTEN)
    coverage_findings: tuple[Finding, ...] = field(default=(), metadata=NOT_WRITTEN)
    drift: Drift | None = field(default=None, metadata=NOT_WRITTEN)
    drift_findings: tuple[Finding, ...] = field(default=(), metadata=NOT_WRITTEN)
    reference: str = field(default="", metadata=NOT_WRITTEN)

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
    @in_document("plan", document=True)
    def judged_plan(self) -> Plan | None:
        """The plan, with the verdict on it."""
        return None if self.plan is None else replace(self.plan, verdict=self.checked.verdict)

    @property
    @in_document(document=True)
    def run(self) -> RunTold | None:
        """How it ran; None if it was not run."""
        if self.flight is None:
            return None
        model = ModelPath(path=self.checked.reading.path)
        return RunTold(model=model, flight=self.flight, findings=self.flight_findings)

    @property
    @in_document(document=True)
    def delegates(self) -> Coverage | None:
        """What each accelerator takes; None if nobody asked."""
        return None if self.coverage is None else replace(self.coverage, findings=self.coverage_findings)

    @property
    @in_document(document=True)
    def compare(self) -> Drift | None:
        """How far it is from its reference; None if there is none."""
        if self.drift is None:
            return None
        path = self.checked.reading.path
        return replace(self.drift, reference_path=self.reference, candidate_path=path)

    @property
    def path(self) -> str:
        """The model's path."""
        return self.checked.reading.path or ""

    @property
    @in_document()
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was found, each once; what killed it stands in its own section."""
        parts = (
            self.checked.judgement.findings,
            self.flight_findings,
            self.coverage_findings,
            self.drift_findings,
        )
        verdict = self.diagnosis.verdict if self.diagnosis is not None else None
        # The verdict is the same finding with what the trials have shown.
        told = None if verdict is None else (verdict.code, verdict.op)
        found = dict.fromkeys(item for part in parts for item in part if (item.code, item.op) != told)
        order = list(Severity)
        return tuple(sorted(found, key=lambda item: order.index(item.severity)))

    @property
    def ended_badly(self) -> bool:
        """True if it died or was refused when it was run."""
        return self.diagnosis is not None and self.diagnosis.verdict is not None


def report_verdict(seen: Examination) -> PageVerdict:
    """The worst that is known; if nothing is wrong, what it needs and that it runs."""
    checked, plan = seen.checked, seen.plan
    if seen.diagnosis is not None and seen.ended_badly:
        return diagnosis_verdict(seen.diagnosis)
    if plan is not None and checked.verdict is not None and not checked.verdict.fits:
        return plan_verdict(plan, checked.verdict)
    if any(item.severity is Severity.ERROR for item in seen.findings):
        return check_verdict([checked]) if checked.judgement.errors else _first_error(seen)
    need = _need(seen)
    fits = "" if checked.verdict is None else f", and {checked.verdict.word} {checked.verdict.budget.title}"
    tight = checked.verdict is not None and checked.verdict.word == "tight"
    if seen.flight is None:
        word = f"no error found{fits}"
        return PageVerdict(tone="warn" if tight else "plain", word=word, sentence=f"It was not run. {need}")
    warned = any(item.severity is Severity.WARNING for item in seen.findings)
    return PageVerdict(tone="warn" if tight or warned else "good", word=f"runs{fits}", sentence=need)


def _first_error(seen: Examination) -> PageVerdict:
    first = next(item for item in seen.findings if item.severity is Severity.ERROR)
    return PageVerdict(tone="bad", word=first.headline, sentence=first.where)


def _need(seen: Examination) -> str:
    plan, flight = seen.plan, seen.flight
    said = []
    if plan is not None:
        needed = needed_bytes(plan)
        said.append("The plan is refused." if needed is None else f"It needs {amount(plan, needed)}.")
    if flight is not None and flight.peak_bytes is not None:
        took = dict(flight.stages).get("invoke")
        time = "" if took is None else f"; invoke took {took * 1000:,.2f} ms"
        said.append(f"Measured: {format_bytes(flight.peak_bytes)} at most{time}.")
    if seen.findings:
        said.append(f"Found: {count_findings(seen.findings)}.")
    return " ".join(said)


def report_page(seen: Examination) -> Page:
    """The whole page."""
    model, plan = seen.checked.reading.model, seen.plan
    tiles: list[Tile] = []
    if plan is not None:
        tiles += plan_tiles(plan, seen.checked.verdict)
    if seen.flight is not None:
        tiles += flight_tiles(seen.flight, plan)
    if model is not None:
        tiles += model_tiles(model)
    name = os.path.basename(seen.path) or "model given as bytes"
    return Page(
        title=name,
        kind="report",
        verdict=report_verdict(seen),
        tiles=tuple(tiles),
        sections=tuple(_sections(seen)),
        subtitle=seen.path,
    )


def _sections(seen: Examination) -> Iterator[Section]:
    model, plan = seen.checked.reading.model, seen.plan
    if seen.diagnosis is not None and seen.diagnosis.verdict is not None:
        yield diagnosis_section(seen.diagnosis)
    yield from findings_sections(seen.findings)
    if plan is not None:
        yield plan_section(plan, seen.checked.verdict)
    if seen.flight is not None:
        yield flight_section(seen.flight, plan)
    if seen.coverage is not None:
        yield coverage_section(seen.coverage)
    if seen.drift is not None:
        yield drift_section(seen.drift)
    if model is not None:
        yield operators_section(model, what_is_known(plan, seen.flight, seen.coverage, seen.drift))
        yield model_section(model)
    yield _more(seen)


def _more(seen: Examination) -> Section:
    """What else can be asked about this model."""
    model = shell_path(seen.path or "MODEL")
    asked = [
        ("Another batch or input size, side by side", f"outlive plan {model} --sweep batch=1,2,4"),
        ("Does it fit a device?", f"outlive check {model} --device raspberry-pi-zero-2-w"),
        ("Does it leak?", f"outlive leak {model}"),
    ]
    if seen.coverage is None:
        asked.append(("What does each accelerator here take of it?", f"outlive delegates {model}"))
    commands = tuple(Command(command=command, words=words) for words, command in asked)
    return Section(id="more", title="Go on from here", blocks=commands)
