"""The page of each command: its verdict, what is worth seeing first, and the sections in the order of use."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from outlive.accelerators import Coverage
from outlive.arena.budget import Verdict as FitVerdict
from outlive.arena.budget import needed_bytes
from outlive.arena.plan import Plan, PlanRow
from outlive.diagnosis.nouns import Diagnosis
from outlive.finding import Finding, Severity
from outlive.growth.growth import Growth
from outlive.model import Model
from outlive.quant.nouns import Drift
from outlive.rendering.finding_text import count_findings
from outlive.rendering.html.blocks import Block, Column, Findings, Page, Section, Table, Tile, Tone, Verdict
from outlive.rendering.html.coverage_blocks import coverage_section, coverage_tiles, coverage_verdict
from outlive.rendering.html.diagnosis_blocks import diagnosis_section, diagnosis_verdict
from outlive.rendering.html.drift_blocks import drift_section, drift_tiles, drift_verdict
from outlive.rendering.html.flight_blocks import flight_section, flight_tiles, flight_verdict
from outlive.rendering.html.leak_blocks import leak_sections, leak_tiles, leak_verdict
from outlive.rendering.html.model_blocks import model_section, operators_section, what_is_known
from outlive.rendering.html.plan_blocks import TONES, plan_section, plan_tiles
from outlive.rendering.plan_text import amount
from outlive.units import format_bytes, plural
from outlive.worker.flight import Flight

Document = Mapping[str, Any]
_SIZES = (
    ("arena", "arena_bytes"),
    ("persistent", "persistent_bytes"),
    ("packed weights", "packed_weights_bytes"),
    ("workspace", "workspace_bytes"),
    ("peak", "peak_bytes"),
)


def plan_page(
    plan: Plan,
    verdict: FitVerdict | None,
    findings: Sequence[Finding],
    document: Document,
    *,
    model: Model,
    rows: Sequence[PlanRow] = (),
) -> Page:
    """The page of `outlive plan`."""
    sections = [
        *findings_sections(findings),
        *([_settings(rows)] if rows else []),
        plan_section(plan, verdict),
        operators_section(model, what_is_known(plan)),
        model_section(model),
    ]
    tiles = (*plan_tiles(plan, verdict), *model_tiles(model))
    return _page("plan", plan.path, plan_verdict(plan, verdict), tiles, sections, document)


def plan_verdict(plan: Plan, verdict: FitVerdict | None) -> Verdict:
    """Whether it fits; without a budget, what it needs."""
    needed = needed_bytes(plan)
    if needed is None:
        return Verdict(tone="bad", word="refused", sentence="It does not run on this runtime.")
    need = f"needs {amount(plan, needed)}"
    if verdict is None:
        return Verdict(tone="plain", word=need)
    left = verdict.margin_bytes or 0
    room = f"{format_bytes(abs(left))} {'to spare' if left >= 0 else 'too little'}"
    said = f"It {need}; {verdict.budget.title} has {format_bytes(verdict.budget.ram_bytes)}: {room}. "
    return Verdict(tone=TONES[verdict.word], word=verdict.word, sentence=said + "; ".join(verdict.reasons))


def _settings(rows: Sequence[PlanRow]) -> Section:
    names = list(dict.fromkeys(name for row in rows for name in row.setting))
    judged = any(row.verdict for row in rows)
    columns = [Column(title=name, kind="mono") for name in names]
    columns += [Column(title=title, kind="bar" if title == "peak" else "bytes") for title, _ in _SIZES]
    columns += [Column(title="verdict", kind="chip", tones=TONES)] if judged else []
    columns.append(Column(title="", wide=True))
    cells = [
        [
            *(row.setting.get(name, "") for name in names),
            *(None if row.plan is None else getattr(row.plan, field) for _, field in _SIZES),
            *([row.verdict.word if row.verdict else None] if judged else []),
            row.problem,
        ]
        for row in rows
    ]
    table = Table(id="settings-table", caption="Settings side by side", columns=tuple(columns), rows=cells)
    return Section(id="settings", title="What if", blocks=(table,))


def run_page(
    flight: Flight,
    path: str | None,
    findings: Sequence[Finding],
    document: Document,
    *,
    model: Model | None = None,
    plan: Plan | None = None,
) -> Page:
    """The page of `outlive run`."""
    sections = [*findings_sections(findings, "What happened"), flight_section(flight, plan)]
    tiles = list(flight_tiles(flight, plan))
    if model is not None:
        sections += [operators_section(model, what_is_known(plan, flight)), model_section(model)]
        tiles += model_tiles(model)
    return _page("run", path, flight_verdict(flight), tiles, sections, document)


def diagnose_page(diagnosis: Diagnosis, document: Document, model: Model | None = None) -> Page:
    """The page of `outlive diagnose`."""
    sections = [diagnosis_section(diagnosis)]
    if diagnosis.end is not None:
        sections.append(flight_section(diagnosis.end.flight))
    told = {(item.code, item.op) for item in (diagnosis.verdict, *diagnosis.silent) if item is not None}
    others = [finding for finding in diagnosis.findings if (finding.code, finding.op) not in told]
    sections += findings_sections(others, "What else was found")
    if model is not None:
        sections += [operators_section(model, what_is_known()), model_section(model)]
    tiles = model_tiles(model) if model is not None else ()
    return _page("diagnose", diagnosis.path, diagnosis_verdict(diagnosis), tuple(tiles), sections, document)


def delegates_page(
    coverage: Coverage, findings: Sequence[Finding], document: Document, model: Model | None = None
) -> Page:
    """The page of `outlive delegates`."""
    sections = [*findings_sections(findings), coverage_section(coverage)]
    if model is not None:
        sections += [operators_section(model, what_is_known(coverage=coverage)), model_section(model)]
    tiles = tuple(coverage_tiles(coverage))
    return _page("delegates", coverage.path, coverage_verdict(coverage), tiles, sections, document)


def compare_page(
    drift: Drift, reference: str, candidate: str, document: Document, model: Model | None = None
) -> Page:
    """The page of `outlive compare`."""
    sections = [*findings_sections(drift.findings), drift_section(drift)]
    if model is not None:
        sections += [operators_section(model, what_is_known(drift=drift)), model_section(model)]
    page = _page("compare", candidate, drift_verdict(drift), tuple(drift_tiles(drift)), sections, document)
    return Page(
        title=page.title,
        kind=page.kind,
        verdict=page.verdict,
        tiles=page.tiles,
        sections=page.sections,
        document=document,
        subtitle=f"{candidate} against {reference}",
    )


def leak_page(growth: Growth, document: Document) -> Page:
    """The page of `outlive leak`."""
    sections = [*findings_sections(growth.findings), *leak_sections(growth)]
    return _page("leak", growth.what, leak_verdict(growth), tuple(leak_tiles(growth)), sections, document)


def broken_page(kind: str, path: str | None, findings: Sequence[Finding], document: Document) -> Page:
    """The page of a file that cannot be used, or of a run that was not started."""
    first = findings[0] if findings else None
    word = first.headline if first is not None else "it cannot be used"
    sections = findings_sections(findings)
    return _page(kind, path, Verdict(tone="bad", word=word), (), list(sections), document)


def model_tiles(model: Model) -> Iterator[Tile]:
    """How large the file is, and how many operators it has."""
    yield Tile(label="file", value=format_bytes(model.file_bytes), note=f"{model.file_bytes:,} bytes")
    count = sum(len(subgraph.operators) for subgraph in model.subgraphs)
    graphs = plural(len(model.subgraphs), "subgraph")
    yield Tile(label="operators", value=f"{count:,}", note=graphs)


def findings_sections(findings: Sequence[Finding], title: str = "Findings") -> list[Section]:
    """The findings, the worst first, if there are any."""
    if not findings:
        return []
    blocks: tuple[Block, ...] = (Findings(findings=tuple(findings)),)
    return [Section(id="findings", title=title, blocks=blocks, lead=f"{count_findings(findings)}.")]


def worst_tone(findings: Sequence[Finding]) -> Tone:
    """How bad the worst of them is."""
    found = {finding.severity for finding in findings}
    return "bad" if Severity.ERROR in found else "warn" if Severity.WARNING in found else "good"


def _page(
    kind: str,
    path: str | None,
    verdict: Verdict,
    tiles: Sequence[Tile],
    sections: Sequence[Section],
    document: Document,
) -> Page:
    name = os.path.basename(path.rstrip(os.sep)) if path else "model given as bytes"
    return Page(
        title=name or str(path),
        kind=kind,
        verdict=verdict,
        tiles=tuple(tiles),
        sections=tuple(sections),
        document=document,
        subtitle=path or "",
    )
