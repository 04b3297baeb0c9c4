"""The judge that workers are handed: a fact in, the finding and its drawn text out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from outlive.diagnosis.alone import with_cause_of_end
from outlive.errors import InternalError
from outlive.finding import Finding, shell_path
from outlive.model import read_source
from outlive.rendering.finding_text import plain_finding
from outlive.rules.death.by_flight import BY_FLIGHT
from outlive.rules.engine import judge
from outlive.rules.witness import lacked_memory, may_lack_memory
from outlive.worker.flight import Flight, OpSeen


def judge_fact(kind: str, fact: Any, source: str | bytes | None) -> tuple[Finding, str, Any]:
    """The finding for a fact; a flight comes back with the index of its operator where that is certain.

    A flight without a file is judged by a few rules, and the others are not even loaded: whoever called a
    function that died should not grow by them.
    """
    if not isinstance(fact, Flight):
        finding = _name_file(_first(kind, fact), source)
        return finding, plain_finding(finding), fact
    if not source:
        (finding, *_) = judge({kind: fact}, BY_FLIGHT).findings or (_first(kind, fact),)
        finding = with_cause_of_end(finding, fact)
        return finding, plain_finding(finding), fact
    from outlive.diagnosis.explaining import with_told_cause

    fact = with_op_index(fact, source)
    if lacked_memory(fact) or may_lack_memory(fact):
        from outlive.fitting.verdicts import with_plan

        fact = with_plan(fact, source)
    finding = _name_file(with_told_cause(_first(kind, fact), fact, source), source)
    return finding, plain_finding(finding), fact


def _first(kind: str, fact: Any) -> Finding:
    """The worst that the rules on such a fact find; one of them always does."""
    from outlive.rules.catalogue import RULES

    found = judge({kind: fact}, [rule for rule in RULES if rule.facts == (kind,)]).findings
    if not found:
        raise InternalError(f"no rule explains this {kind}: {fact!r}")
    return found[0]


def judge_run(flight: Flight) -> tuple[Finding, ...]:
    """What there is to say of a run: why it ended badly, or what went wrong without a word."""
    from outlive.rules.catalogue import assess_run

    if flight.died or flight.error_type:
        return (judge_fact("flight", flight, flight.source)[0],)
    reading = None if flight.source is None else read_source(flight.source)
    return tuple(_name_file(finding, flight.source) for finding in assess_run(flight, reading))


def _name_file(finding: Finding, source: str | bytes | None) -> Finding:
    """The finding with the model's path in its commands, where a rule could only say FILE."""
    if not isinstance(source, str) or not source:
        return finding
    name = shell_path(source)
    remedies = tuple(
        replace(item, command=re.sub(r"\bFILE\b", lambda _: name, item.command)) for item in finding.remedies
    )
    return replace(finding, remedies=remedies)


def with_op_index(flight: Flight, source: str | bytes | None) -> Flight:
    """The flight with its operator, and the operator's index, where only one in the model can be meant."""
    kinds = {flight.op.type} if flight.op is not None else set(flight.op_candidates)
    if not kinds or not source or (flight.op is not None and flight.op.index is not None):
        return flight
    model = read_source(source).model
    places = [
        OpSeen(type=operator.name, subgraph=subgraph.index, index=operator.index)
        for subgraph in (model.subgraphs if model is not None else ())
        for operator in subgraph.operators
        if operator.name in kinds
    ]
    if len({place.type for place in places}) != 1:
        return flight
    return replace(flight, op=places[0] if len(places) == 1 else OpSeen(type=places[0].type))
