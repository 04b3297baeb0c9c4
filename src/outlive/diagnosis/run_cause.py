"""Puts a cause to the end of a run with what its file says: one flight, no experiments, no process."""

from __future__ import annotations

from dataclasses import replace

from outlive.diagnosis.alone import place_of, with_cause_of_end
from outlive.diagnosis.diagnosis_case import file_findings
from outlive.diagnosis.diagnosis_record import AS_IT_IS, Conditions, Trial
from outlive.diagnosis.operator_names import hollow_in, loops_in, owners_of, placed
from outlive.diagnosis.sized_operators import sized_by_inputs
from outlive.diagnosis.verdict import Seen, decide
from outlive.finding import Evidence, Finding
from outlive.model import read_source
from outlive.process.flight import Flight


def with_cause(finding: Finding, flight: Flight, source: str | bytes | None) -> Finding:
    """The finding on a flight with its cause and operator, and what is wrong with the file as evidence.

    Its code and headline stay: they say what happened, which is certain; the cause is what led to it. Only a
    model that could not even be loaded because of its file gets that fault of the file, as in `check`.
    """
    if not source:
        return with_cause_of_end(finding, flight)
    if flight.ended_by == "interrupt" or (flight.stage == "call" and finding.cause):
        return finding  # a function that runs the model: its own end says more than the file
    seen = _seen(flight, source)
    verdict = decide(seen)
    if verdict.cause == "unknown":
        return finding
    added: tuple[Evidence, ...] = ()
    if verdict.finding.code != finding.code:
        fact = f"{verdict.finding.code}: {verdict.finding.headline}; {verdict.finding.evidence[0].fact}"
        added = (Evidence(fact=fact, source="file"),)
    op = place_of(verdict.op) or finding.op
    if flight.stage == "load" and verdict.finding.code.startswith("F"):
        evidence = (*verdict.finding.evidence, *finding.evidence)
        return replace(verdict.finding, cause=verdict.cause, op=op, evidence=evidence)
    return replace(finding, cause=verdict.cause, op=op, evidence=(*finding.evidence, *added))


def _seen(flight: Flight, source: str | bytes) -> Seen:
    conditions = Conditions(source=source)
    trial = Trial(name=AS_IT_IS, conditions=conditions, flight=flight, seconds=0.0)
    reading = read_source(source)
    if reading.model is None and flight.stage != "load":
        # What was loaded once is no longer what is there now: there is only the flight.
        return Seen(end=trial, trials=(trial,), findings=())
    trial = placed(trial, reading.model)
    return Seen(
        end=trial,
        trials=(trial,),
        findings=file_findings(reading, resized=bool(flight.resized)),
        owners=owners_of(reading),
        loops=loops_in(reading.model),
        sized=sized_by_inputs(reading.model),
        hollow=hollow_in(reading.model),
    )
