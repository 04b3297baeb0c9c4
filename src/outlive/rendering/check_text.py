"""What `outlive check` found, for people: a table where there are several files, then every finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outlive.finding import Severity
from outlive.names import safe
from outlive.rendering.finding_text import count_findings, rich_finding
from outlive.rendering.model_lists import listing
from outlive.rules import NotChecked
from outlive.rules.checked import Checked
from outlive.units import format_bytes, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAME = 160
# What would have to be given for a rule to be able to look, in the words of the command line.
_NEEDS = {
    "expectation": "--expect",
    "flight": "a run",
    "inputs": "--inputs",
    "plan": "--device or --ram",
    "surroundings": "--here",
    "verdict": "--device or --ram",
    "model": "a sound file",
}


def check_text(rows: Sequence[Checked]) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    if len(rows) > 1:
        yield _table(rows)
    for row in rows:
        if len(rows) == 1 or row.judgement.findings:
            yield from _file(row)
    yield from _not_checked(rows)


def _file(row: Checked) -> Iterator[RenderableType]:
    from rich.text import Text

    found = row.judgement.findings
    style = "bold red" if row.judgement.errors else "bold yellow" if found else "bold green"
    said = count_findings(found) if found else "nothing found"
    fit = f", {row.verdict.word}" if row.verdict is not None else ""
    yield Text.assemble((_name(row), "bold"), "  ", (f"{said}{fit}", style))
    for finding in found:
        yield rich_finding(finding)


def _table(rows: Sequence[Checked]) -> RenderableType:
    planned = any(row.verdict is not None for row in rows)
    table = listing("file", "size", "errors", "warnings", "notes", *(("fit",) if planned else ()))
    for row in rows:
        counts = Counter(finding.severity for finding in row.judgement)
        word = (row.verdict.word if row.verdict is not None else "",) if planned else ()
        numbers = (str(counts[severity] or "") for severity in Severity)
        table.add_row(_name(row), format_bytes(row.reading.file_bytes), *numbers, *word)
    return table


def _name(row: Checked) -> str:
    return safe(row.reading.path or "the given bytes", _NAME)


def _not_checked(rows: Sequence[Checked]) -> Iterator[RenderableType]:
    """Rules that failed or had no plan, each; the others counted by what they need."""
    from rich.text import Text

    skipped = {(item.code, item.reason): item for row in rows for item in row.judgement.not_checked}
    needs: Counter[str] = Counter()
    for item in skipped.values():
        if not item.reason.startswith("needs "):
            yield Text(f"not checked: {item.code} {item.name}, {safe(item.reason, 300)}", style="yellow")
        else:
            needs[_need(item)] += 1
    needs.pop("", None)
    if needs:
        said = ", ".join(
            f"{plural(count, 'rule')} that need{'s' * (count == 1)} {what}" for what, count in needs.items()
        )
        yield Text(f"not checked: {said}", style="dim")


def _need(item: NotChecked) -> str:
    """What a rule lacks; nothing for rules that a check can never ask."""
    return _NEEDS.get(item.reason.removeprefix("needs ").split(" and ")[0], "")
