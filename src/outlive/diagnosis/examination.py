"""All that was found out about one model: read, checked, planned, run, diagnosed, accelerated, compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from outlive.accelerators import Coverage
from outlive.arena.devices import Device
from outlive.arena.plan import Plan, Verdict
from outlive.diagnosis.diagnosis_record import Diagnosis
from outlive.finding import Finding, Severity
from outlive.process.flight import Flight
from outlive.quant import Drift
from outlive.records import NOT_WRITTEN
from outlive.results import Result, file_name
from outlive.rules.checked import Checked
from outlive.units import plural


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Examination(Result):
    """What each part came to; None where it was not asked for or not reached.

    `fits` has the verdict for each device that was asked about, None where it cannot be planned. `not_run` is
    why it was not run although that was asked for, `notes` what else could not be done.
    """

    kind: ClassVar[str] = "report"

    checked: Checked = field(metadata=NOT_WRITTEN)
    plan: Plan | None = field(default=None, metadata=NOT_WRITTEN)
    plan_findings: tuple[Finding, ...] = field(default=(), metadata=NOT_WRITTEN)
    fits: tuple[tuple[Device, Verdict | None], ...] = field(default=(), metadata=NOT_WRITTEN)
    not_run: str = field(default="", metadata=NOT_WRITTEN)
    flight: Flight | None = field(default=None, metadata=NOT_WRITTEN)
    flight_findings: tuple[Finding, ...] = field(default=(), metadata=NOT_WRITTEN)
    diagnosis: Diagnosis | None = field(default=None, metadata=NOT_WRITTEN)
    coverage: Coverage | None = field(default=None, metadata=NOT_WRITTEN)
    coverage_findings: tuple[Finding, ...] = field(default=(), metadata=NOT_WRITTEN)
    drift: Drift | None = field(default=None, metadata=NOT_WRITTEN)
    drift_findings: tuple[Finding, ...] = field(default=(), metadata=NOT_WRITTEN)
    reference: str = field(default="", metadata=NOT_WRITTEN)
    notes: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)

    def _summary(self) -> tuple[str, str]:
        """The model, and how many findings there are."""
        return file_name(self.path), plural(len(self.findings), "finding")

    @property
    def path(self) -> str:
        """The model's path; empty if there is none."""
        return self.checked.reading.path or ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was found, each once, the worst first; what killed it is `diagnosis.verdict`."""
        parts = (
            self.checked.judgement.findings,
            self.plan_findings,
            self.flight_findings,
            self.coverage_findings,
            self.drift_findings,
        )
        verdict = self.diagnosis.verdict if self.diagnosis is not None else None
        # The verdict is the same finding with what the trials have shown.
        main = None if verdict is None else (verdict.code, verdict.op)
        found = dict.fromkeys(item for part in parts for item in part if (item.code, item.op) != main)
        order = list(Severity)
        return tuple(sorted(found, key=lambda item: order.index(item.severity)))

    @property
    def ended_badly(self) -> bool:
        """True if it died or was refused when it was run."""
        return self.diagnosis is not None and self.diagnosis.verdict is not None

    @property
    def outcome(self) -> str:
        """What it comes to: "died", "errors", "does not fit" if that is the one thing wrong, or "clean"."""
        if self.diagnosis is not None and self.ended_badly:
            return "died" if self.diagnosis.died else "errors"
        if self.checked.only_too_big:
            return "does not fit"
        bad = any(item.severity is Severity.ERROR for item in self.findings)
        return "errors" if bad else "clean"
