"""What `outlive report` and `outlive MODEL` give: an examination with its page, and with its document."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import ClassVar

from outlive.accelerators import Coverage
from outlive.arena.plan import Plan
from outlive.atomic_files import write_whole
from outlive.diagnosis.diagnosis_record import Diagnosis
from outlive.diagnosis.examination import Examination
from outlive.finding import Finding
from outlive.model import Tensor
from outlive.planning.file_read import FileRead
from outlive.process.flight import RunWithFindings
from outlive.quant import Drift
from outlive.records import ModelFile, ModelPath, in_document
from outlive.rendering import page_of
from outlive.rendering.media.html import render_html
from outlive.rendering.media.json import document_of
from outlive.rendering.page import PageVerdict
from outlive.rendering.pages.report import report_verdict
from outlive.rules.checked import Checked


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
        """What was found without running it."""
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
        """What each accelerator takes; None if they were not tried."""
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
        """What the file says."""
        return FileRead(reading=self.checked.reading, judgement=self.checked.judgement)

    @property
    @in_document("plan", document=True)
    def judged_plan(self) -> Plan | None:
        """What memory it needs."""
        return self.plan

    @property
    @in_document(document=True)
    def run(self) -> RunWithFindings | None:
        """How it ran, and what went wrong without a word; None if it was not run."""
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
