"""The page of `outlive check`: one file in full, or many in a table with the findings of each below."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from outlive.finding import Severity
from outlive.rendering.finding_text import count_findings
from outlive.rendering.page import (
    Block,
    Cell,
    Column,
    Findings,
    Page,
    PageVerdict,
    Section,
    Table,
    Tile,
    Words,
    make_page,
    worst_tone,
)
from outlive.rendering.pages.plan import TONES, plan_section, plan_tiles, plan_verdict
from outlive.rendering.pages.read import model_section, model_tiles, operators_section, what_is_known
from outlive.rules import NotChecked
from outlive.rules.checked import Checked, Checks
from outlive.units import plural

# Files whose findings are shown in full; all of them are in the table, and in the JSON.
_MOST_FILES = 200
# A terminal lists so many files without -v: a line for each.
_BRIEF = 100
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
_TONES = {"error": "bad", "warning": "warn", "note": "plain", "nothing": "good"}


def page(checks: Checks) -> Page:
    """The page of one file or of many."""
    if len(checks.files) == 1:
        return _one(checks.files[0], checks)
    return _many(checks) if checks.files else _none(checks)


def check_verdict(rows: Sequence[Checked]) -> PageVerdict:
    """What was found in all of them."""
    findings = [finding for row in rows for finding in row.judgement.findings]
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        word = errors[0].headline if len(errors) == 1 else plural(len(errors), "error")
        return PageVerdict(
            tone="bad", word=word, sentence=f"Found without running it: {count_findings(findings)}."
        )
    if findings:
        said = f"{count_findings(findings)}."
        return PageVerdict(tone=worst_tone(findings), word="no error", sentence=said)
    return PageVerdict(tone="good", word="nothing found", sentence="Checked without running it.")


def _one(file: Checked, checks: Checks) -> Page:
    model, verdict = file.reading.model, file.verdict
    sections = [_findings(file, checks)]
    tiles: list[Tile] = []
    if verdict is not None:
        sections.append(plan_section(verdict.plan, verdict, 1))
        tiles += plan_tiles(verdict.plan, verdict)
    if model is not None:
        tiles += model_tiles(model)
        plan = None if verdict is None else verdict.plan
        sections.append(replace(operators_section(model, what_is_known(plan)), detail=2))
        sections.append(replace(model_section(model), detail=2))
    found = check_verdict([file])
    if verdict is not None:
        fit = plan_verdict(verdict.plan, verdict)
        found = replace(found, word=f"{found.word}, {fit.word}", sentence=f"{found.sentence} {fit.sentence}")
    return make_page("check", file.reading.path, found, tiles, sections)


def _findings(file: Checked, checks: Checks) -> Section:
    told = file.judgement.findings
    blocks: list[Block] = [Findings(findings=told, nothing="No rule has anything to say.")]
    skipped = file.judgement.not_checked
    if skipped:
        blocks.append(
            Table(
                id="not-checked",
                caption=f"{plural(len(skipped), 'rule')} not checked, and why",
                columns=(Column(title="code", kind="mono"), Column(title="why", wide=True)),
                rows=[(item.code, item.reason) for item in skipped],
                is_folded=True,
                detail=2,
            )
        )
    blocks += _left_out(checks)
    return Section(id="findings", title="Findings", blocks=tuple(blocks))


def _left_out(checks: Checks) -> Iterator[Block]:
    """Rules that failed or had no plan, each; the others by what they need; those ignored, and why."""
    skipped = {(item.code, item.reason): item for item in checks.not_checked}
    failed = [item for item in skipped.values() if not item.reason.startswith("needs ")]
    for item in failed:
        yield Words(text=f"Not checked: {item.code} {item.name}, {item.reason[:300]}", tone="warn")
    needs = Counter(filter(None, (_need(item) for item in skipped.values() if item not in failed)))
    if needs:
        said = (f"{plural(n, 'rule')} that need{'s' * (n == 1)} {what}" for what, n in needs.items())
        yield Words(text=f"Not checked: {', '.join(said)}.", detail=1)
    for word, reason in checks.reasons:
        yield Words(text=f"Ignored: {word}, because {reason}")


def _left_out_section(checks: Checks) -> list[Section]:
    blocks = tuple(_left_out(checks))
    return [Section(id="left-out", title="Left out", blocks=blocks)] if blocks else []


def _need(item: NotChecked) -> str:
    """What a rule lacks; nothing for rules that a check can never ask."""
    return _NEEDS.get(item.reason.removeprefix("needs ").split(" and ")[0], "")


def _none(checks: Checks) -> Page:
    said = "None has changed, or all are excluded."
    verdict = PageVerdict(tone="good", word="no model to check", sentence=said)
    return Page(title="check", kind="check", verdict=verdict, sections=tuple(_left_out_section(checks)))


def _many(checks: Checks) -> Page:
    rows = checks.files
    bad = sum(1 for row in rows if row.judgement.errors)
    sections = [Section(id="files", title="Files", blocks=(_table(rows),))]
    told = [row for row in rows if row.judgement.findings][:_MOST_FILES]
    for number, row in enumerate(told):
        name = os.path.basename(row.reading.path or "model given as bytes")
        blocks: tuple[Block, ...] = (Findings(findings=row.judgement.findings),)
        sections.append(Section(id=f"file-{number}", title=name[:120], blocks=blocks))
    sections += _left_out_section(checks)
    found = check_verdict(rows)
    all_files = plural(len(rows), "file")
    word = f"{bad} of {all_files} with errors" if bad else f"no error in {all_files}"
    verdict = replace(found, word=word)
    return Page(title=plural(len(rows), "model"), kind="check", verdict=verdict, sections=tuple(sections))


def _table(rows: Sequence[Checked]) -> Table:
    planned = any(row.verdict is not None for row in rows)
    columns = [
        Column(title="file", kind="mono", wide=True),
        Column(title="worst", kind="chip", tones=_TONES),
        Column(title="size", kind="bytes"),
        *(Column(title=title, kind="number") for title in ("errors", "warnings", "notes")),
        *([Column(title="fit", kind="chip", tones=TONES)] if planned else []),
        Column(title="first", wide=True, detail=1),
    ]
    return Table(
        id="files-table",
        caption=plural(len(rows), "file"),
        columns=tuple(columns),
        rows=[_row(row, planned) for row in rows],
        brief=_BRIEF,
    )


def _row(row: Checked, planned: bool) -> tuple[Cell, ...]:
    counts = Counter(finding.severity for finding in row.judgement)
    fit: tuple[Cell, ...] = (None if row.verdict is None else row.verdict.word,) if planned else ()
    return (
        row.reading.path or "the given bytes",
        _worst(row),
        row.reading.file_bytes,
        *(counts[severity] or None for severity in Severity),
        *fit,
        row.judgement.findings[0].headline if row.judgement.findings else "",
    )


def _worst(row: Checked) -> str:
    return row.judgement.findings[0].severity.value if row.judgement.findings else "nothing"
