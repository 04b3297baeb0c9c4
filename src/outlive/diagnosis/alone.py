"""Puts a cause to the end of a run with nothing but its flight: no file, no experiment, and little to load.

A guarded function or a kernel has no model's file to look at, and its caller should not pay for rules
on files when it dies.
"""

from __future__ import annotations

from dataclasses import replace

from outlive.diagnosis.diagnosis_record import AS_IT_IS, Conditions, Trial
from outlive.diagnosis.flight_cause import cause_of_end
from outlive.finding import Finding, OpPlace
from outlive.process.flight import Flight, OpSeen


def with_cause_of_end(finding: Finding, flight: Flight) -> Finding:
    """The finding on a flight with its cause and operator, as far as the end itself tells them."""
    if flight.ended_by == "interrupt" or (flight.stage == "call" and finding.cause):
        return finding
    trial = Trial(name=AS_IT_IS, conditions=Conditions(source=""), flight=flight, seconds=0.0)
    end = cause_of_end(trial, (trial,))
    cause = finding.cause if end.cause == "unknown" else end.cause
    if not cause:
        return finding
    return replace(finding, cause=cause, op=place_of(end.op or flight.op) or finding.op)


def place_of(op: OpSeen | None) -> OpPlace | None:
    """An operator that was seen as a place in the model; None if its index is not known."""
    if op is None or op.index is None:
        return None
    return OpPlace(subgraph=op.subgraph, index=op.index, type=op.type)
