"""The judge that workers are handed: a fact in, the finding and its drawn text out."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import Any

from outlive.diagnosis.explaining import with_told_cause
from outlive.errors import InternalError
from outlive.finding import Finding
from outlive.model import read_source
from outlive.report.finding_text import plain_finding
from outlive.rules import judge
from outlive.rules.catalogue import RULES
from outlive.worker.flight import Flight, OpSeen


def judge_fact(kind: str, fact: Any, source: str | bytes | None) -> tuple[Finding, str, Any]:
    """The finding for a fact; a flight comes back with the index of its operator where that is certain."""
    if isinstance(fact, Flight):
        fact = with_op_index(fact, source)
    judgement = judge({kind: fact}, [rule for rule in RULES if rule.facts == (kind,)])
    if not judgement.findings:
        raise InternalError(f"no rule explains this {kind}: {fact!r}")
    finding = judgement.findings[0]
    if isinstance(fact, Flight):
        finding = with_told_cause(finding, fact, source)
    finding = _name_file(finding, source)
    return finding, plain_finding(finding), fact


def judge_landing(flight: Flight, source: str | bytes | None) -> tuple[Finding, ...]:
    """What there is to say of a run that went well: outputs never written, delegates that fell back."""
    found = judge({"flight": flight}, [rule for rule in RULES if rule.facts == ("flight",)]).findings
    return tuple(_name_file(finding, source) for finding in found)


def _name_file(finding: Finding, source: str | bytes | None) -> Finding:
    """The finding with the model's path in its commands, where a rule could only say FILE."""
    if not isinstance(source, str) or not source:
        return finding
    name = shlex.quote(source)
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
