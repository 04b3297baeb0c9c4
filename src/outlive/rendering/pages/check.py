"""The page of `outlive check`: one file in full, or many in a table with the findings of each below."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from outlive.finding import Severity
from outlive.names import safe
from outlive.rendering import page as ui
from outlive.rendering.finding_text import Line, Wrapped, count_findings, one_line
from outlive.rendering.pages.plan import TONES, plan_section, plan_tiles, plan_verdict
from outlive.rendering.pages.read import model_sections, model_tiles, what_is_known
from outlive.rules import NotChecked
from outlive.rules.checked import FIXABLE_CODES, Checked, Checks
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
    "model": "a valid file",
}
_TONES = {"error": "bad", "warning": "warn", "note": "plain", "nothing": "good"}


def page(checks: Checks) -> ui.Page:
    """The page of one file or of many."""
    if len(checks.files) == 1:
        return _one(checks.files[0], checks)
    return _many(checks) if checks.files else _none(checks)


def check_lines(checks: Checks, with_fix: bool = False) -> Iterator[Wrapped]:
    """A line for each finding, then how many there are: what a terminal shows of many files.

    `with_fix` says that what could be fixed has been.
    """
    for file in checks.files:
        path = file.reading.path or "model given as bytes"
        for finding in file.judgement.findings:
            place = finding.where.removeprefix(path).strip(" ,")
            where = f" ({safe(place, 200)})" if place and place not in finding.headline else ""
            yield Wrapped([one_line(path, finding, where)])
    for item in _failed(checks):
        yield Wrapped(
            [Line("", f"Not checked: {item.code} {item.name}, {safe(item.reason, 300)}", "yellow", hang=4)]
        )
    yield Wrapped([Line("", check_summary(checks, with_fix), "bold", hang=2)])


def check_summary(checks: Checks, with_fix: bool = False) -> str:
    """How many findings are in how many models, and how many are left out or can be fixed."""
    models = plural(len(checks.files), "model")
    found = checks.findings
    said = [f"Found {count_findings(found)} in {models}." if found else f"No findings in {models}."]
    if checks.fixed:
        said.append(f"Fixed {plural(sum(len(change.codes) for change in checks.fixed), 'finding')}.")
    if checks.known:
        said.append(f"{plural(checks.known, 'known finding')} in the baseline.")
    fixable = sum(finding.code in FIXABLE_CODES for finding in found)
    if fixable and with_fix:
        said.append(f"{fixable} of them cannot be fixed in the file: convert the model again.")
    elif fixable:
        said.append(f"--fix removes {fixable} of them." if fixable < len(found) else "--fix removes them.")
    return " ".join(said)


def check_verdict(rows: Sequence[Checked]) -> ui.PageVerdict:
    """What was found in all of them."""
    findings = [finding for row in rows for finding in row.judgement.findings]
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        word = errors[0].headline if len(errors) == 1 else plural(len(errors), "error")
        return ui.PageVerdict("bad", word, f"{count_findings(findings)}, without a run.")
    if findings:
        said = f"{count_findings(findings)}."
        return ui.PageVerdict(ui.worst_tone(findings), "no error", said)
    return ui.PageVerdict("good", "no findings", "Checked without a run.")


def _one(file: Checked, checks: Checks) -> ui.Page:
    model, verdict = file.reading.model, file.verdict
    sections = [_findings(file, checks)]
    tiles: list[ui.Tile] = []
    if verdict is not None:
        sections.append(plan_section(verdict.plan, verdict, 1))
        tiles += plan_tiles(verdict.plan, verdict)
    tiles += model_tiles(model)
    sections += model_sections(model, what_is_known(None if verdict is None else verdict.plan))
    found = check_verdict([file])
    if verdict is not None:
        fit = plan_verdict(verdict.plan, verdict)
        found = replace(found, word=f"{found.word}, {fit.word}", sentence=f"{found.sentence} {fit.sentence}")
    return ui.make_page("check", file.reading.path, found, tiles, sections)


def _findings(file: Checked, checks: Checks) -> ui.Section:
    found = file.judgement.findings
    blocks: list[ui.Block] = [ui.Findings(found, nothing="No findings.", detail=0 if found else 1)]
    skipped = file.judgement.not_checked
    if skipped:
        blocks.append(
            ui.Table(
                "not-checked",
                f"{plural(len(skipped), 'rule')} not checked",
                ui.columns("code: mono | reason: wide"),
                [(item.code, item.reason) for item in skipped],
                is_folded=True,
                detail=2,
            )
        )
    blocks += _left_out(checks)
    return ui.Section("findings", "Findings", tuple(blocks))


def _left_out(checks: Checks) -> Iterator[ui.Block]:
    """Rules that failed or had no plan, each; the others by what they need; those ignored, and why."""
    skipped = {(item.code, item.reason): item for item in checks.not_checked}
    failed = _failed(checks)
    for item in failed:
        yield ui.Words(f"Not checked: {item.code} {item.name}, {item.reason[:300]}", tone="warn")
    needs = Counter(filter(None, (_need(item) for item in skipped.values() if item not in failed)))
    if needs:
        said = (f"{plural(n, 'rule')} that need{'s' * (n == 1)} {what}" for what, n in needs.items())
        yield ui.Words(f"Not checked: {', '.join(said)}.", detail=1)
    for word, reason in checks.reasons:
        yield ui.Words(f"Ignored: {word}, because {reason}")


def _failed(checks: Checks) -> list[NotChecked]:
    """The rules that failed or had no plan, each once."""
    skipped = {(item.code, item.reason): item for item in checks.not_checked}
    return [item for item in skipped.values() if not item.reason.startswith("needs ")]


def _left_out_section(checks: Checks) -> list[ui.Section]:
    blocks = tuple(_left_out(checks))
    return [ui.Section("left-out", "Excluded", blocks)] if blocks else []


def _need(item: NotChecked) -> str:
    """What a rule lacks; nothing for rules that a check can never ask."""
    return _NEEDS.get(item.reason.removeprefix("needs ").split(" and ")[0], "")


def _none(checks: Checks) -> ui.Page:
    said = "No model has changed, or all are excluded."
    verdict = ui.PageVerdict("good", "no model to check", said)
    return ui.Page(title="check", kind="check", verdict=verdict, sections=tuple(_left_out_section(checks)))


def _many(checks: Checks) -> ui.Page:
    rows = checks.files
    bad = sum(1 for row in rows if row.judgement.errors)
    sections = [ui.Section("files", "Files", (_table(rows),))]
    listed = [row for row in rows if row.judgement.findings][:_MOST_FILES]
    for number, row in enumerate(listed):
        name = os.path.basename(row.reading.path or "model given as bytes")
        blocks: tuple[ui.Block, ...] = (ui.Findings(row.judgement.findings),)
        sections.append(ui.Section(f"file-{number}", name[:120], blocks))
    sections += _left_out_section(checks)
    found = check_verdict(rows)
    all_files = plural(len(rows), "file")
    word = f"{bad} of {all_files} with errors" if bad else f"no error in {all_files}"
    verdict = replace(found, word=word)
    return ui.Page(title=plural(len(rows), "model"), kind="check", verdict=verdict, sections=tuple(sections))


def _table(rows: Sequence[Checked]) -> ui.Table:
    planned = any(row.verdict is not None for row in rows)
    columns = [
        *ui.columns(
            "file: mono wide",
            ui.Column("worst", "chip", _TONES),
            "size: bytes",
            *(ui.Column(title, "number") for title in ("errors", "warnings", "notes")),
            *([ui.Column("fit", "chip", TONES)] if planned else []),
            "first: wide -v",
        )
    ]
    return ui.Table(
        "files-table",
        plural(len(rows), "file"),
        tuple(columns),
        [_row(row, planned) for row in rows],
        brief=_BRIEF,
    )


def _row(row: Checked, planned: bool) -> tuple[ui.Cell, ...]:
    counts = Counter(finding.severity for finding in row.judgement)
    fit: tuple[ui.Cell, ...] = (None if row.verdict is None else row.verdict.word,) if planned else ()
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
