"""Puts a cause to the end of a run with what its file says: one flight, no experiments, no process."""

from __future__ import annotations

from dataclasses import replace

from outlive.diagnosis.naming import hollow_in, loops_in, owners_of, placed
from outlive.diagnosis.nouns import AS_IT_IS, Conditions, Trial
from outlive.diagnosis.opening import with_cause
from outlive.diagnosis.sizing import sized_by_inputs
from outlive.diagnosis.verdict import Seen, decide
from outlive.finding import Evidence, Finding, OpPlace
from outlive.model import read_source
from outlive.rules.catalogue import assess
from outlive.worker.flight import Flight, OpSeen


def with_told_cause(finding: Finding, flight: Flight, source: str | bytes | None) -> Finding:
    """The finding on a flight with its cause and operator, and what is wrong with the file as evidence.

    Its code and headline stay: they say what happened, which is certain; the cause is what led to it.
    """
    if flight.ended_by == "interrupt" or (flight.stage == "call" and finding.cause):
        return finding  # a function of the user's own: there is no file to look at
    seen = _seen(flight, source)
    verdict = decide(seen)
    if verdict.cause == "unknown":
        return finding
    added: tuple[Evidence, ...] = ()
    if verdict.finding.code != finding.code:
        fact = f"{verdict.finding.code}: {verdict.finding.headline}; {verdict.finding.evidence[0].fact}"
        added = (Evidence(fact=fact, source="file"),)
    op = _place(verdict.op) or finding.op
    return replace(finding, cause=verdict.cause, op=op, evidence=(*finding.evidence, *added))


def _seen(flight: Flight, source: str | bytes | None) -> Seen:
    conditions = Conditions(source=source or "")
    trial = Trial(name=AS_IT_IS, conditions=conditions, flight=flight, seconds=0.0)
    reading = read_source(source) if source else None
    if reading is None or (reading.model is None and flight.stage != "load"):
        # Without a file there is only the flight; and what was loaded once is no longer what is there now.
        return Seen(end=trial, trials=(trial,), findings=())
    trial = placed(trial, reading.model)
    return Seen(
        end=trial,
        trials=(trial,),
        findings=tuple(map(with_cause, assess(reading).findings)),
        owners=owners_of(reading),
        loops=loops_in(reading.model),
        sized=sized_by_inputs(reading.model),
        hollow=hollow_in(reading.model),
    )


def _place(op: OpSeen | None) -> OpPlace | None:
    if op is None or op.index is None:
        return None
    return OpPlace(subgraph=op.subgraph, index=op.index, type=op.type)
