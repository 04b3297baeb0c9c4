"""The page of `outlive check`: one file in full, or many in a table with the findings of each below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlive.finding import Severity
from outlive.rendering.finding_text import count_findings
from outlive.rendering.html.blocks import Block, Column, Findings, Page, Section, Table, Tile, Verdict
from outlive.rendering.html.model_blocks import model_section, operators_section, what_is_known
from outlive.rendering.html.pages import model_tiles, worst_tone
from outlive.rendering.html.plan_blocks import plan_section, plan_tiles
from outlive.rules.checked import Checked
from outlive.units import plural

# Files whose findings are shown in full; all of them are in the table, and in the JSON.
_MOST_FILES = 200
_TONES = {"error": "bad", "warning": "warn", "note": "plain", "nothing": "good"}


def check_page(rows: Sequence[Checked], document: Mapping[str, Any]) -> Page:
    """The page of one file or of many."""
    return _one(rows[0], document) if len(rows) == 1 else _many(rows, document)


def check_verdict(rows: Sequence[Checked]) -> Verdict:
    """What was found in all of them."""
    findings = [finding for row in rows for finding in row.judgement.findings]
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        word = errors[0].headline if len(errors) == 1 else plural(len(errors), "error")
        return Verdict(
            tone="bad", word=word, sentence=f"Found without running it: {count_findings(findings)}."
        )
    if findings:
        return Verdict(tone=worst_tone(findings), word="no error", sentence=f"{count_findings(findings)}.")
    return Verdict(tone="good", word="nothing found", sentence="Checked without running it.")


def _one(row: Checked, document: Mapping[str, Any]) -> Page:
    model, verdict = row.reading.model, row.verdict
    sections = [_findings(row)]
    tiles: list[Tile] = []
    if verdict is not None:
        sections.append(plan_section(verdict.plan, verdict))
        tiles += plan_tiles(verdict.plan, verdict)
    if model is not None:
        tiles += model_tiles(model)
        plan = None if verdict is None else verdict.plan
        sections += [operators_section(model, what_is_known(plan)), model_section(model)]
    path = row.reading.path or "model given as bytes"
    return Page(
        title=path.rpartition("/")[2],
        kind="check",
        verdict=check_verdict([row]),
        tiles=tuple(tiles),
        sections=tuple(sections),
        document=document,
        subtitle=path,
    )


def _findings(row: Checked) -> Section:
    skipped = row.judgement.not_checked
    blocks: list[Block] = [Findings(findings=row.judgement.findings, nothing="No rule has anything to say.")]
    if skipped:
        blocks.append(
            Table(
                id="not-checked",
                caption=f"{plural(len(skipped), 'rule')} not checked, and why",
                columns=(Column(title="code", kind="mono"), Column(title="why", wide=True)),
                rows=[(item.code, item.reason) for item in skipped],
                is_folded=True,
            )
        )
    return Section(id="findings", title="Findings", blocks=tuple(blocks))


def _many(rows: Sequence[Checked], document: Mapping[str, Any]) -> Page:
    bad = sum(1 for row in rows if row.judgement.errors)
    cells = [
        (
            row.reading.path or "",
            _worst(row),
            row.reading.file_bytes,
            len(row.judgement.errors),
            len(row.judgement.findings),
            row.judgement.findings[0].headline if row.judgement.findings else "",
        )
        for row in rows
    ]
    table = Table(
        id="files-table",
        caption=plural(len(rows), "file"),
        columns=(
            Column(title="file", kind="mono", wide=True),
            Column(title="worst", kind="chip", tones=_TONES),
            Column(title="size", kind="bytes"),
            Column(title="errors", kind="number"),
            Column(title="findings", kind="number"),
            Column(title="first", wide=True),
        ),
        rows=cells,
    )
    sections = [Section(id="files", title="Files", blocks=(table,))]
    told = [row for row in rows if row.judgement.findings][:_MOST_FILES]
    for number, row in enumerate(told):
        name = (row.reading.path or "model given as bytes").rpartition("/")[2]
        blocks: tuple[Block, ...] = (Findings(findings=row.judgement.findings),)
        sections.append(Section(id=f"file-{number}", title=name[:120], blocks=blocks))
    found = check_verdict(rows)
    word = (
        f"{bad} of {plural(len(rows), 'file')} with errors"
        if bad
        else f"no error in {plural(len(rows), 'file')}"
    )
    return Page(
        title=plural(len(rows), "model"),
        kind="check",
        verdict=Verdict(tone=found.tone, word=word, sentence=found.sentence),
        tiles=(),
        sections=tuple(sections),
        document=document,
    )


def _worst(row: Checked) -> str:
    return row.judgement.findings[0].severity.value if row.judgement.findings else "nothing"
