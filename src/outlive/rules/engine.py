"""Runs rules over facts: the only place where a sighting gets its code and severity."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from outlive.errors import ModelError
from outlive.finding import Finding, Severity, Sighting
from outlive.model.file_bytes import FileChanged
from outlive.records import NOT_WRITTEN, written

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that can be wrong, with the function that sees it and the page that explains it."""

    code: str
    name: str
    severity: Severity
    since: str
    summary: str = field(metadata=written("headline"))
    facts: tuple[str, ...]
    doc: str = field(metadata=written("page"))
    function: Callable[..., Iterator[Sighting]] = field(metadata=NOT_WRITTEN)
    cause: str = field(default="", metadata=NOT_WRITTEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleList:
    """Rules with their pages."""

    kind: ClassVar[str] = "explain"

    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotChecked:
    """A rule that was not run, and why."""

    code: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the rules found, the worst first, and which of them could not look."""

    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]

    def __iter__(self) -> Iterator[Finding]:
        """The findings, the worst first."""
        return iter(self.findings)

    def __len__(self) -> int:
        """How many findings there are."""
        return len(self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings of severity error."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)


def rule(
    code: str, name: str, severity: Severity, since: str, cause: str = ""
) -> Callable[[Callable[..., Iterator[Sighting]]], Rule]:
    """Make a rule of a generator of sightings; its module's docstring is the headline and the page.

    `cause` is the word for what it finds in the taxonomy of causes that `diagnose` uses; empty if it is none.
    """

    def make(function: Callable[..., Iterator[Sighting]]) -> Rule:
        doc = inspect.cleandoc(sys.modules[function.__module__].__doc__ or name.replace("-", " "))
        return Rule(
            code=code,
            name=name,
            severity=severity,
            since=since,
            summary=doc.splitlines()[0],
            doc=doc,
            facts=tuple(inspect.signature(function).parameters),
            function=function,
            cause=cause,
        )

    return make


def judge(facts: Mapping[str, object], rules: Iterable[Rule]) -> Judgement:
    """Run every rule whose facts are at hand; a fact that is None is not at hand.

    `ModelError` or `FileChanged` if the file has changed since it was read.
    """
    findings: list[Finding] = []
    skipped: list[NotChecked] = []
    for entry in rules:
        missing = [name for name in entry.facts if facts.get(name) is None]
        if missing:
            reason = f"needs {' and '.join(missing)}"
            skipped.append(NotChecked(code=entry.code, name=entry.name, reason=reason))
            continue
        try:
            sightings = list(entry.function(**{name: facts[name] for name in entry.facts}))
        except (ModelError, FileChanged):
            raise  # the file is no longer what was read: no rule can look at it
        except Exception as error:
            # One rule with a bug must not cost the user what all the others found; it is said, not hidden.
            reason = f"the rule failed: {type(error).__name__}: {error}"
            skipped.append(NotChecked(code=entry.code, name=entry.name, reason=reason))
            continue
        findings += [_sign(entry, sighting) for sighting in sightings]
    findings.sort(key=by_weight)
    return Judgement(findings=tuple(findings), not_checked=tuple(skipped))


def by_weight(finding: Finding) -> tuple[int, str]:
    """What findings are sorted by: the worst first, then by code."""
    return _ORDER[finding.severity], finding.code


def _sign(entry: Rule, sighting: Sighting) -> Finding:
    return Finding(
        code=entry.code,
        name=entry.name,
        severity=entry.severity,
        headline=sighting.headline or entry.summary,
        where=sighting.where,
        why=sighting.why,
        evidence=sighting.evidence,
        remedies=sighting.remedies,
        confidence=sighting.confidence,
        fault=sighting.fault,
        op=sighting.op,
        cause=sighting.cause or entry.cause,
    )
