"""Flights, trials and findings for tests of verdicts: made here, without a process."""

from __future__ import annotations

from typing import Any

from outlive.diagnosis.diagnosis_record import Conditions, Trial
from outlive.finding import Evidence, Fault, Finding, OpPlace, Severity
from outlive.process.flight import Flight, OpSeen

RAN = Flight(died=False, stage="done")


def flight(**fields: Any) -> Flight:
    """A death by SIGSEGV in op 3 while running, with these fields changed."""
    usual: dict[str, Any] = {
        "died": True,
        "stage": "invoke",
        "signal": "SIGSEGV",
        "op": OpSeen(type="CONV_2D", index=3),
        "frames": ("tflite::ops::builtin::conv::Eval",),
        "fault_address": 0x7F0000000000,
    }
    return Flight(**{**usual, **fields})


def refusal(text: str, stage: str = "allocate") -> Flight:
    """A run that the runtime refused in these words."""
    return Flight(died=False, stage=stage, error_type="RuntimeError", error_text=text)


def trial(flown: Flight, name: str = "as it is", source: str | bytes = "m.tflite") -> Trial:
    """A trial with this flight."""
    return Trial(name=name, conditions=Conditions(source=source), flight=flown, seconds=0.1)


def finding(
    cause: str, op: tuple[int, str] | None = None, severity: Severity = Severity.ERROR, code: str = "O101"
) -> Finding:
    """A finding of this cause, about this operator of the main subgraph."""
    return Finding(
        code=code,
        name="made-up",
        severity=severity,
        headline="something is wrong",
        where="somewhere",
        why="",
        evidence=(Evidence(fact="seen", source="test"),),
        remedies=(),
        confidence="certain",
        fault=Fault.FILE,
        op=None if op is None else OpPlace(subgraph=0, index=op[0], type=op[1]),
        cause=cause,
    )
