"""Puts a cause to the end of a run with what its file says: one flight, no experiments, no process."""

from __future__ import annotations

from dataclasses import replace

from outlive.diagnosis.advice import has_fixed_shapes
from outlive.diagnosis.alone import place_of, with_cause_of_end
from outlive.diagnosis.diagnosis_case import file_findings
from outlive.diagnosis.diagnosis_record import AS_IT_IS, Conditions, Trial
from outlive.diagnosis.operator_names import hollow_in, loops_in, owners_of, placed
from outlive.diagnosis.sized_operators import sized_by_inputs
from outlive.diagnosis.verdict import Seen, decide
from outlive.finding import Finding
from outlive.model import read_source
from outlive.process.flight import Flight

# Where a runtime refuses a model for what is in its file; set and get are refused for what the caller does.
_AT_WORK = ("load", "allocate", "invoke", "call")


def with_cause(finding: Finding, flight: Flight, source: str | bytes | None) -> Finding:
    """The finding on the fault that ended a flight: the one that `check` and `diagnose` have for it.

    Where nothing in the file explains the end, it is the finding on the end itself, with its cause.
    """
    if not source:
        return with_cause_of_end(finding, flight)
    if flight.ended_by == "interrupt" or (flight.stage == "call" and finding.cause):
        return finding  # a function that runs the model: its own end says more than the file
    verdict = decide(_seen(flight, source))
    if verdict.cause == "unknown":
        return finding
    op = place_of(verdict.op) or finding.op
    if verdict.finding.code == finding.code:
        return replace(finding, cause=verdict.cause, op=op)
    if verdict.finding.evidence[: len(finding.evidence)] == finding.evidence:
        return replace(verdict.finding, op=op)  # the same end under its own name
    known = [item for item in verdict.finding.evidence if item.source != "trial"]  # it is the run itself
    other_kernels = [item for item in finding.remedies if "--accelerator" in item.command]
    return replace(
        verdict.finding,
        cause=verdict.cause,
        op=op,
        evidence=(*known, *finding.evidence),
        remedies=(*verdict.finding.remedies, *other_kernels),
    )


def _seen(flight: Flight, source: str | bytes) -> Seen:
    conditions = Conditions(source=source)
    trial = Trial(name=AS_IT_IS, conditions=conditions, flight=flight, seconds=0.0)
    reading = read_source(source)
    if reading.model is None and flight.stage != "load":
        # What was loaded once is no longer what is there now: there is only the flight.
        return Seen(end=trial, trials=(trial,), findings=())
    trial = placed(trial, reading.model)
    findings = file_findings(reading, resized=bool(flight.resized))
    return Seen(
        end=trial,
        trials=(trial,),
        findings=findings if flight.died or flight.stage in _AT_WORK else (),
        owners=owners_of(reading),
        loops=loops_in(reading.model),
        sized=sized_by_inputs(reading.model),
        hollow=hollow_in(reading.model),
        fixed_shapes=has_fixed_shapes(reading.model),
    )
