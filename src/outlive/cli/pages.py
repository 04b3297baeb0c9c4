"""`--format html`: the page of each command, with what it needs beside the command's own result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlive.cli.output import OutputError, write_plain

if TYPE_CHECKING:
    from outlive.accelerators import Coverage
    from outlive.arena.budget import Verdict
    from outlive.arena.plan import Plan
    from outlive.diagnosis.nouns import Diagnosis
    from outlive.finding import Finding
    from outlive.fitting.nouns import Fit
    from outlive.growth.growth import Growth
    from outlive.model import Model
    from outlive.quant.nouns import Drift
    from outlive.rendering.html.blocks import Page
    from outlive.rendering.plan_tables import Row
    from outlive.rules.checked import Checked
    from outlive.worker.flight import Flight


def need_a_file(args: argparse.Namespace) -> None:
    """`OutputError` for a page that would fill a terminal, before anything is done."""
    if args.format == "html" and args.output is None and sys.stdout.isatty():
        raise OutputError("a page is to be opened in a browser: say where to write it, --output page.html")


def write_page(args: argparse.Namespace, page: Page) -> None:
    """Write the page to the file that --output names, or to a pipe."""
    from outlive.rendering.html.page import render_page

    write_plain(args, render_page(page))


def show_plan(
    args: argparse.Namespace,
    plan: Plan,
    verdict: Verdict | None,
    findings: Sequence[Finding],
    rows: Sequence[Row],
    document: dict[str, Any],
) -> None:
    """A plan."""
    from outlive.model import read_source
    from outlive.rendering.html.pages import plan_page

    model = read_source(args.file).model
    assert model is not None, "what was planned was read"
    write_page(args, plan_page(plan, verdict, findings, document, model=model, rows=rows))


def show_broken(args: argparse.Namespace, kind: str, findings: Sequence[Finding], document: Any) -> None:
    """A file that cannot be used, or a run that was not started."""
    from outlive.rendering.html.pages import broken_page

    write_page(args, broken_page(kind, args.file, findings, document))


def show_run(args: argparse.Namespace, flight: Flight, findings: Sequence[Finding], document: Any) -> None:
    """A run, beside the plan for it where there is one."""
    from outlive.rendering.html.pages import run_page

    model = _model(args.file)
    plan = _plan(model, args.accelerator, args.threads)
    write_page(args, run_page(flight, args.file, findings, document, model=model, plan=plan))


def show_diagnosis(args: argparse.Namespace, diagnosis: Diagnosis, document: Any) -> None:
    """A diagnosis."""
    from outlive.rendering.html.pages import diagnose_page

    write_page(args, diagnose_page(diagnosis, document, _model(args.file)))


def show_coverage(
    args: argparse.Namespace, coverage: Coverage, findings: Sequence[Finding], document: Any
) -> None:
    """What accelerators take."""
    from outlive.rendering.html.pages import delegates_page

    write_page(args, delegates_page(coverage, findings, document, _model(args.file)))


def show_drift(args: argparse.Namespace, drift: Drift, document: Any) -> None:
    """A comparison."""
    from outlive.rendering.html.pages import compare_page

    write_page(args, compare_page(drift, args.reference, args.candidate, document, _model(args.candidate)))


def show_fit(args: argparse.Namespace, fit: Fit, written: str | None) -> None:
    """What was tried to make a model fit."""
    from outlive.rendering.fit_json import fit_json
    from outlive.rendering.html.fit_page import fit_page

    write_page(args, fit_page(fit, fit_json(fit, written)))


def show_growth(args: argparse.Namespace, growth: Growth, document: Any) -> None:
    """What grows."""
    from outlive.rendering.html.pages import leak_page

    write_page(args, leak_page(growth, document))


def show_checks(args: argparse.Namespace, rows: Sequence[Checked], document: Any) -> None:
    """What is wrong with files."""
    from outlive.rendering.html.check_page import check_page

    write_page(args, check_page(rows, document))


def _model(path: str) -> Model | None:
    from outlive.model import read_source

    return read_source(path).model


def _plan(model: Model | None, accelerator: str, threads: int | None) -> Plan | None:
    """The plan to draw beside a run; None where there is none for this accelerator or this file."""
    from outlive import verbs
    from outlive.errors import OutliveError

    if model is None or accelerator not in ("cpu", "builtin", "reference"):
        return None
    try:
        plan = verbs.plan(model, accelerator, threads=threads)
    except (OutliveError, ValueError):
        return None
    return None if plan.refusals else plan
