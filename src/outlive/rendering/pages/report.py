"""The page of `outlive report`: all that was found out about one model, verdict first.

Examination ── report_verdict ── the worst of: it died, it does not fit, it has errors; or: it runs
            ── page ── findings, why it died, memory, run, accelerators, drift, operators, the model
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from outlive.arena.budget import needed_bytes
from outlive.diagnosis.examination import Examination
from outlive.finding import Severity, shell_path
from outlive.rendering import page as ui
from outlive.rendering.finding_text import count_findings
from outlive.rendering.pages.check import check_verdict
from outlive.rendering.pages.compare import drift_section
from outlive.rendering.pages.delegates import coverage_section
from outlive.rendering.pages.diagnose import diagnosis_section, diagnosis_verdict
from outlive.rendering.pages.plan import amount, plan_section, plan_tiles, plan_verdict
from outlive.rendering.pages.read import model_sections, model_tiles, what_is_known
from outlive.rendering.pages.run import flight_section, flight_tiles
from outlive.units import format_bytes


def report_verdict(seen: Examination) -> ui.PageVerdict:
    """The worst that is known; if nothing is wrong, what it needs and that it runs."""
    checked, plan = seen.checked, seen.plan
    if seen.diagnosis is not None and seen.ended_badly:
        return diagnosis_verdict(seen.diagnosis)
    if plan is not None and checked.verdict is not None and not checked.verdict.fits:
        return plan_verdict(plan, checked.verdict)
    if any(item.severity is Severity.ERROR for item in seen.findings):
        return check_verdict([checked]) if checked.judgement.errors else _first_error(seen)
    need = _need(seen)
    fits = "" if checked.verdict is None else f", and {checked.verdict.word} {checked.verdict.budget.title}"
    tight = checked.verdict is not None and checked.verdict.word == "tight"
    if seen.flight is None:
        word = f"no error found{fits}"
        return ui.PageVerdict("warn" if tight else "plain", word, f"Not run. {need}")
    warned = any(item.severity is Severity.WARNING for item in seen.findings)
    return ui.PageVerdict("warn" if tight or warned else "good", f"runs{fits}", need)


def _first_error(seen: Examination) -> ui.PageVerdict:
    first = next(item for item in seen.findings if item.severity is Severity.ERROR)
    return ui.PageVerdict("bad", first.headline, first.where)


def _need(seen: Examination) -> str:
    plan, flight = seen.plan, seen.flight
    said = []
    if plan is not None:
        needed = needed_bytes(plan)
        said.append("The runtime refuses the model." if needed is None else f"Needs {amount(plan, needed)}.")
    if flight is not None and flight.peak_bytes is not None:
        took = dict(flight.stages).get("invoke")
        time = "" if took is None else f"; invoke took {took * 1000:,.2f} ms"
        said.append(f"Measured peak {format_bytes(flight.peak_bytes)}{time}.")
    if seen.findings:
        said.append(f"Found: {count_findings(seen.findings)}.")
    return " ".join(said)


def page(seen: Examination) -> ui.Page:
    """The whole page."""
    model, plan = seen.checked.reading.model, seen.plan
    tiles: list[ui.Tile] = []
    if plan is not None:
        tiles += plan_tiles(plan, seen.checked.verdict)
    if seen.flight is not None:
        tiles += flight_tiles(seen.flight, plan)
    tiles += model_tiles(model)
    return ui.make_page("report", seen.path or None, report_verdict(seen), tiles, _sections(seen))


def _sections(seen: Examination) -> Iterator[ui.Section]:
    model, plan = seen.checked.reading.model, seen.plan
    if seen.diagnosis is not None and seen.diagnosis.verdict is not None:
        yield diagnosis_section(seen.diagnosis)
    yield from ui.findings_sections(seen.findings)
    yield from (replace(section, detail=1) for section in _parts(seen))
    yield from model_sections(model, what_is_known(plan, seen.flight, seen.coverage, seen.drift))
    yield _more(seen)


def _parts(seen: Examination) -> Iterator[ui.Section]:
    """What a terminal shows with -v."""
    if seen.plan is not None:
        yield plan_section(seen.plan, seen.checked.verdict)
    if seen.flight is not None:
        yield flight_section(seen.flight, seen.plan)
    if seen.coverage is not None:
        yield coverage_section(seen.coverage)
    if seen.drift is not None:
        yield drift_section(seen.drift)
    not_done = ((f"not run: {seen.not_run}",) if seen.not_run else ()) + seen.notes
    if not_done:
        yield ui.Section("not-done", "Not done", (ui.Listing(not_done),))


def _more(seen: Examination) -> ui.Section:
    """What else can be asked about this model."""
    model = shell_path(seen.path or "MODEL")
    asked = [
        ("How much memory do other batch sizes need?", f"outlive plan {model} --sweep batch=1,2,4"),
        ("Does it fit a device?", f"outlive check {model} --device raspberry-pi-zero-2-w"),
        ("Does it leak?", f"outlive leak {model}"),
    ]
    if seen.coverage is None:
        asked.append(("Which accelerators run it?", f"outlive delegates {model}"))
    commands = tuple(ui.Command(command, words) for words, command in asked)
    return ui.Section("more", "Next steps", commands, detail=1)
