"""What each accelerator takes and does, for people: one table, then what each left to the CPU and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.accelerators import Accelerator, Coverage, Refusal
from outlive.finding import Finding
from outlive.names import safe
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.model_lists import listing
from outlive.rendering.model_text import grid, heading
from outlive.units import format_bytes, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLES = {"runs": "green", "compiles": "green", "differs": "yellow", "refused": "yellow", "absent": "dim"}
_NAME, _WORDS = 48, 300
_MOST_GROUPS, _MOST_INDICES = 12, 8


def coverage_text(coverage: Coverage, findings: Sequence[Finding] = ()) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    from rich.text import Text

    name = safe(coverage.path or "the given bytes", 160)
    runtime = f"{coverage.runtime.get('runtime', '')} {coverage.runtime.get('version', '')}".strip()
    yield Text.assemble((name, "bold"), f"  {plural(len(coverage.op_types), 'operator')}, {runtime}")
    yield _table(coverage)
    for one in coverage.accelerators:
        yield from _details(one)
    yield from _documented(coverage)
    best = coverage.best
    if best is not None:
        yield Text(f"quickest that runs and agrees: {best.name}, {best.milliseconds:,.2f} ms", style="bold")
    if findings:
        yield heading("findings")
        yield from (rich_finding(finding) for finding in findings)


def _table(coverage: Coverage) -> RenderableType:
    from rich.text import Text

    columns = ("accelerator", "outcome", "takes", "partitions", "difference", "time", "memory")
    table = listing(*columns)
    for one in coverage.accelerators:
        table.add_row(
            safe(one.name, _NAME),
            Text(_outcome(one), style=_STYLES.get(one.outcome, "bold red")),
            "" if one.ops_taken is None else f"{one.ops_taken} of {one.ops_total}",
            "" if one.partitions is None else str(one.partitions),
            _difference(one),
            "" if one.milliseconds is None else f"{one.milliseconds:,.2f} ms",
            "" if one.peak_bytes is None else format_bytes(one.peak_bytes),
        )
    return table


def _outcome(one: Accelerator) -> str:
    if one.outcome == "absent":
        return "not here"
    if one.death is not None:
        how = one.death.ended_by or one.death.signal or f"exit code {one.death.exit_code}"
        return f"{one.outcome}: {how} at {one.death.stage}"
    return f"{one.outcome} (software)" if one.is_software else one.outcome


def _difference(one: Accelerator) -> str:
    if one.not_compared:
        return "not comparable"
    if one.difference is None:
        return ""
    if one.difference.largest == 0:
        return "none"
    word = "normal" if one.difference.is_normal else f"normal: {one.difference.allowed:.2g}"
    return f"{one.difference.largest:.2g} ({word})"


def _details(one: Accelerator) -> Iterator[RenderableType]:
    """What is worth saying of an accelerator beyond its row; nothing of one that took everything."""
    rows = list(_rows(one))
    if not rows:
        return
    yield heading(safe(one.name, _NAME), safe(one.title, _WORDS))
    table = grid("left", "left")
    for label, words in rows:
        table.add_row("", label, safe(words, _WORDS))
    yield table


def _rows(one: Accelerator) -> Iterator[tuple[str, str]]:
    if not one.available:
        yield "not here", one.unavailable
        if one.install:
            yield "to have it", one.install
        return
    if one.device:
        yield "runs on", one.device + (", which is the CPU in disguise" if one.is_software else "")
    if one.error:
        yield "it says" if one.death is None else "how it ended", one.error
    if one.culprit is not None:
        listed = ", ".join(f"{o} {t}" for o, t in zip(one.culprit.ops, one.culprit.types, strict=True))
        yield "needed for it", f"op {listed}: a model of just that {one.culprit.how}"
    if one.not_compared:
        yield "not compared", one.not_compared
    if one.agrees_with:
        standing = one.difference.against if one.difference is not None else "the others"
        yield "agrees with", f"{', '.join(one.agrees_with)}: it is {standing} that stands alone"
    for label, words in _groups(one.refused):
        yield f"leaves {label}", words
    if one.crossings and one.refused:
        size = sum(crossing.bytes for crossing in one.crossings)
        count = plural(len(one.crossings), "tensor")
        yield "hands over", f"{count}, {format_bytes(size)} at each run"
    yield from (("note", words) for words in one.notes)
    if one.from_cache:
        yield "note", "found out earlier; --no-cache tries it again"


def _groups(refused: Sequence[Refusal]) -> Iterator[tuple[str, str]]:
    """Operators that were refused for the same reason, on one line."""
    groups: dict[tuple[str, str], list[int | None]] = {}
    for refusal in refused:
        groups.setdefault((refusal.type, refusal.reason), []).append(refusal.op)
    for (kind, reason), ops in list(groups.items())[:_MOST_GROUPS]:
        known = [str(op) for op in ops if op is not None]
        shown = ", ".join(known[:_MOST_INDICES]) + (" ..." if len(known) > _MOST_INDICES else "")
        place = f" (op {shown})" if known else ""
        yield f"{safe(kind, _NAME)}{place}", reason
    if len(groups) > _MOST_GROUPS:
        yield f"{len(groups) - _MOST_GROUPS} more", "see --format json"


def _documented(coverage: Coverage) -> Iterator[RenderableType]:
    """One line for each accelerator that only a document speaks for."""
    if not coverage.documented:
        return
    yield heading("documented, not tried", "what their documents list, and not what they do")
    table = grid("left", "left", "left")
    for one in coverage.documented:
        kinds = list(dict.fromkeys(refusal.type for refusal in one.refused))
        shown = ", ".join(safe(kind, _NAME) for kind in kinds[:_MOST_INDICES])
        more = " ..." if len(kinds) > _MOST_INDICES else ""
        words = f"without {shown}{more}; " if kinds else ""
        source = f"{words}{one.version}, {one.date}" + (f"; {one.note}" if one.note else "")
        table.add_row("", one.name, f"{one.ops_listed} of {one.ops_total}", source)
    table.add_row("", "unknown", "", ", ".join(coverage.unknown))
    yield table
