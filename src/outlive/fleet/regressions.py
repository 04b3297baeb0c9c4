"""What got worse between two scans: memory, time, findings, verdicts, endings, outputs."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from outlive.arena.plan import WORDS
from outlive.fleet.rows import OUTCOMES, OutputSummary, Row
from outlive.fleet.scan_state import RowFile
from outlive.records import in_document, written
from outlive.rules import find_rule
from outlive.units import format_bytes, plural

# What is kept of regressions to be shown; all of them are counted.
_KEPT = 10_000
_WORDS = (*WORDS, "not planned")
# What a file was that the older scan does not have.
_NEW = "a new file"
# From how much on a difference is worth a word at all.
_LEAST_BYTES = 16_384
_LEAST_MS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerances:
    """How much worse is still the same: shares of the old value, and of the range of an output."""

    peak: float = 0.05
    latency: float = 0.25
    outputs: float = 0.001

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        for name in ("peak", "latency", "outputs"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"a tolerance for {name} of {value} is not a share; write 0.05 or 5%")


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """One thing that got worse: peak, planned peak, latency, finding, verdict, outcome or outputs."""

    path: str
    what: str
    was: str
    now: str


@dataclass(slots=True)
class ScanComparison:
    """A scan held against an older one. What is wrong with a new file counts as worse: it was not there."""

    old_path: Path = field(metadata=written("old"))
    compared: int = 0
    added: int = 0
    gone: int = 0
    better: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    regressions: list[Regression] = field(default_factory=list)

    @property
    @in_document("counts")
    def sorted_counts(self) -> dict[str, int]:
        """How often each got worse, by name."""
        return dict(sorted(self.counts.items()))

    @property
    @in_document()
    def worse(self) -> int:
        """How many things got worse."""
        return sum(self.counts.values())


def compare_rows(old: RowFile, new_path: Path, tolerances: Tolerances) -> ScanComparison:
    """Hold each row of a scan against the older one of the same path, or else of the same name."""
    found = ScanComparison(old_path=old.path)
    for row in RowFile(new_path):
        before = old.find(row)
        if before is None:
            found.added += 1
            worse = faults_of_new_file(row)
        else:
            found.compared += 1
            found.better += OUTCOMES.index(row.outcome) < OUTCOMES.index(before.outcome)
            worse = changes_for_the_worse(before, row, tolerances)
        for what, was, now in worse:
            found.counts[what] += 1
            if len(found.regressions) < _KEPT:
                found.regressions.append(Regression(path=row.path, what=what, was=was, now=now))
    found.gone = max(0, len(old.by_path) - found.compared)
    return found


# What got worse, and what it was and is.
Change = tuple[str, str, str]


def faults_of_new_file(new: Row) -> Iterator[Change]:
    """What is wrong with a file that was not there before: its ending, else its errors; too small devices."""
    if OUTCOMES.index(new.outcome) > OUTCOMES.index("sound"):
        yield "outcome", _NEW, _end(new)
    elif new.errors:
        headline = next((item.headline for item in new.findings if item.severity == "error"), "")
        yield "finding", _NEW, f"{plural(new.errors, 'error')}: {headline}"
    for item in new.devices:
        if item.word in ("does not fit", "refused"):
            yield "verdict", _NEW, f"{item.device}: {item.word}"


def changes_for_the_worse(old: Row, new: Row, tolerances: Tolerances) -> Iterator[Change]:
    """What got worse in one file."""
    # A file that was not run then and ran now, or the other way round, is no worse for that.
    ranks = {name: place for place, name in enumerate(OUTCOMES)} | {"sound": OUTCOMES.index("ran")}
    was = "flawed" if old.outcome == "ran" and old.errors and new.outcome == "flawed" else old.outcome
    if ranks[new.outcome] > ranks[was]:
        yield "outcome", old.outcome, _end(new)
    elif new.died and old.died and new.death and old.death and new.death.cause != old.death.cause:
        yield "outcome", _end(old), _end(new)
    yield from _sizes(old, new, tolerances)
    yield from _findings(old, new)
    yield from _verdicts(old, new)
    if old.run is not None and new.run is not None:
        yield from _outputs(old.run.outputs, new.run.outputs, tolerances)


def _end(row: Row) -> str:
    cause = f": {row.death.cause}" if row.death is not None and row.death.cause else ""
    return f"{row.outcome}{cause}"


def _sizes(old: Row, new: Row, tolerances: Tolerances) -> Iterator[Change]:
    """Bytes and milliseconds that grew."""
    pairs = [("planned peak", old.peak_bytes, new.peak_bytes)]
    was_ms = now_ms = None
    if old.run is not None and new.run is not None:
        pairs.append(("peak", old.run.peak_bytes, new.run.peak_bytes))
        was_ms, now_ms = old.run.milliseconds, new.run.milliseconds
    for what, was, now in pairs:
        if was is not None and now is not None and _grew(was, now, _LEAST_BYTES, tolerances.peak):
            more = f" (+{(now - was) / was:.1%})" if was else ""
            yield what, format_bytes(was), f"{format_bytes(now)}{more}"
    if was_ms is not None and now_ms is not None and _grew(was_ms, now_ms, _LEAST_MS, tolerances.latency):
        more = f" (+{(now_ms - was_ms) / was_ms:.0%})" if was_ms else ""
        yield "latency", f"{was_ms:.3f} ms", f"{now_ms:.3f} ms{more}"


def _grew(was: float, now: float, least: float, tolerance: float) -> bool:
    return now - was >= least and now > was * (1 + tolerance)


def _findings(old: Row, new: Row) -> Iterator[Change]:
    """Errors and warnings that were not there, or not so often; notes do not count."""
    for code, now in sorted(new.codes.items()):
        was = old.codes.get(code, 0)
        severity, headline = _severity_and_headline(code, new)
        if now > was and severity != "note":
            yield "finding", str(was), f"{now} of {severity}[{code}]: {headline}"


def _severity_and_headline(code: str, row: Row) -> tuple[str, str]:
    """Of a finding in the row, else of its rule: a row holds only the first of many findings."""
    for item in row.findings:
        if item.code == code:
            return item.severity, item.headline
    rule = find_rule(code)
    return ("note", "") if rule is None else (rule.severity.value, rule.summary)


def _verdicts(old: Row, new: Row) -> Iterator[Change]:
    before = {item.device: item.word for item in old.devices}
    for item in new.devices:
        was = before.get(item.device)
        if was in _WORDS and item.word in _WORDS and _WORDS.index(item.word) > _WORDS.index(was):
            yield "verdict", f"{item.device}: {was}", f"{item.device}: {item.word}"


def _outputs(
    old: Sequence[OutputSummary], new: Sequence[OutputSummary], tolerances: Tolerances
) -> Iterator[Change]:
    if len(old) != len(new):
        yield "outputs", f"{len(old)} outputs", f"{len(new)} outputs"
        return
    for was, now in zip(old, new, strict=True):
        words = _difference(was, now, tolerances.outputs)
        if words:
            yield "outputs", _shown(was), words


def _shown(seen: OutputSummary) -> str:
    return f"{seen.dtype} {'x'.join(map(str, seen.shape))}"


def _difference(was: OutputSummary, now: OutputSummary, tolerance: float) -> str:
    """How an output differs beyond the tolerance, in words; empty if it does not."""
    if was.sha256 == now.sha256:
        return ""
    if (was.shape, was.dtype) != (now.shape, now.dtype):
        return _shown(now)
    if not was.samples or len(was.samples) != len(now.samples):
        return "other values"
    span = max(abs(was.maximum or 0.0), abs(was.minimum or 0.0), (was.maximum or 0.0) - (was.minimum or 0.0))
    ends = [(was.minimum, now.minimum), (was.maximum, now.maximum)]
    pairs = [*zip(was.samples, now.samples, strict=True), *ends]
    furthest = max(_apart(a, b) for a, b in pairs if a is not None and b is not None)
    share = furthest / span if span and math.isfinite(span) else furthest
    if share <= tolerance:
        return ""
    return f"{now.name[:60]!r} differs by {share:.2%} of its range"


def _apart(a: float, b: float) -> float:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    distance = abs(a - b)
    return math.inf if math.isnan(distance) else distance
