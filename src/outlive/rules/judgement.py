"""Runs rules over facts: the only place where a sighting gets its code and severity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from outlive.errors import ModelError
from outlive.finding import Finding, Severity, Sighting
from outlive.model import FileChanged, Identity, Reading
from outlive.process.flight import Flight
from outlive.results import Listed
from outlive.rules.catalogue import load_rules
from outlive.rules.rule import Rule
from outlive.units import plural

_LONGEST_VALUE = 100
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class NotChecked:
    """A rule that was not run, and why."""

    code: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Judgement(Listed[Finding]):
    """What the rules found, the worst first, and which of them could not look."""

    tables = (("findings", Finding), ("not_checked", NotChecked))
    row_names = ("code", "name")

    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]

    def _summary(self) -> tuple[str, str]:
        """How many findings there are."""
        return plural(len(self.findings), "finding"), plural(len(self.errors), "error")

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings of severity error."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)


def judge(facts: Mapping[str, object], rules: Iterable[Rule] | None = None) -> Judgement:
    """Run every rule of the catalogue, or of `rules`, whose facts are given; a fact that is None is not.

    Raises ModelError or FileChanged if the file has changed since it was read.
    """
    findings: list[Finding] = []
    skipped: list[NotChecked] = []
    for entry in load_rules() if rules is None else rules:
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
        findings += [sign(entry, sighting) for sighting in sightings]
    findings.sort(key=by_weight)
    return Judgement(findings=tuple(findings), not_checked=tuple(skipped))


def by_weight(finding: Finding) -> tuple[int, str]:
    """What findings are sorted by: the worst first, then by code."""
    return _ORDER[finding.severity], finding.code


def sign(entry: Rule, sighting: Sighting) -> Finding:
    """The finding that a rule makes of what was seen."""
    return Finding(
        code=entry.code,
        name=entry.name,
        severity=entry.severity,
        headline=_headline(entry, sighting),
        where=sighting.where,
        why=sighting.why,
        evidence=sighting.evidence,
        remedies=sighting.remedies,
        confidence=sighting.confidence,
        fault=sighting.fault,
        op=sighting.op,
        cause=sighting.cause or entry.cause,
    )


def _headline(entry: Rule, sighting: Sighting) -> str:
    """What is wrong, with the value at fault: the one that the sighting names, or its first fact."""
    fact = "" if sighting.headline else sighting.evidence[0].fact.partition("; ")[0]
    value = sighting.value or (fact if len(fact) <= _LONGEST_VALUE else "")
    return (sighting.headline or entry.summary) + (f": {value}" if value else "")


def assess(reading: Reading) -> Judgement:
    """What all rules say about a file that was opened."""
    # What a broken file seems to waste is no more to be trusted than the rest of it.
    model = None if file_errors(reading) else reading.model
    try:
        return judge({"file": reading, "model": model})
    except (ModelError, FileChanged) as error:
        return Judgement(findings=of_change(error), not_checked=())


def of_change(error: ModelError | FileChanged) -> tuple[Finding, ...]:
    """The findings on a file that has changed since it was opened."""
    if isinstance(error, ModelError):
        return error.findings
    identity = Identity(kind="changed", detail=error.detail)
    return file_errors(Reading(path=error.path, file_bytes=0, identity=identity, model=None))


def assess_run(flight: Flight, reading: Reading | None) -> tuple[Finding, ...]:
    """What went wrong without a word in a run that came back: the same at every entry point.

    Among the rules on files only those of such faults are asked: the others are for `check`.
    """
    sound = reading is not None and not file_errors(reading)
    chosen = [rule for rule in load_rules() if "flight" in rule.facts or rule.code.startswith("S")]
    return judge({"flight": flight, "model": reading.model if reading and sound else None}, chosen).findings


def file_errors(reading: Reading) -> tuple[Finding, ...]:
    """What makes a file one that cannot be trusted; rules on sound models are not asked."""
    return judge({"file": reading}, [rule for rule in load_rules() if rule.facts == ("file",)]).errors


def missing_kernels(reading: Reading) -> tuple[Finding, ...]:
    """Builtin operators that the LiteRT which outlive follows has no kernel for: it loads no such model."""
    found = judge({"file": reading, "model": reading.model}, load_rules("F114", "O122", "O123")).findings
    return tuple(replace(finding, severity=Severity.ERROR) for finding in found)
