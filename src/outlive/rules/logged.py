"""Rules on what a log tells of a death: the tables of messages say which rule is meant, the rule signs it.

    "A813" ──tell_from_log──> a generator on the fact `logged`

Other entry points have no sight of these faults: they happen in another process, on another machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outlive.finding import Evidence, Fault, Finding, Remedy, Sighting, Tag
from outlive.rules.judgement import sign
from outlive.rules.rule import Rule, Sightings


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedFault:
    """What lines of a log come to: the code of the rule that is meant, and the words of the tables."""

    code: str
    lines: tuple[str, ...]
    meaning: str
    do: tuple[str, ...] = ()
    where: str = "log"
    cause: str = ""
    fault: Fault = Fault.MACHINE


def tell_from_log(code: str) -> Callable[..., Sightings]:
    """The generator of a rule that answers where the tables of messages name its code."""

    def sightings(logged: LoggedFault) -> Sightings:
        if logged.code == code:
            yield _sighting(logged)

    return sightings


def finding_of(rule: Rule, logged: LoggedFault) -> Finding:
    """The finding of a rule on what a log tells, whatever facts the rule itself looks at elsewhere."""
    return sign(rule, _sighting(logged))


def _sighting(logged: LoggedFault) -> Sighting:
    return Sighting(
        where=logged.where,
        evidence=tuple(Evidence(line, "log") for line in logged.lines),
        why=logged.meaning,
        remedies=tuple(Remedy(action, Tag.SAME_RESULTS) for action in logged.do),
        confidence="likely",
        fault=logged.fault,
        cause=logged.cause,
    )
