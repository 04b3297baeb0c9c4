"""`--format html`: the page of each command, with what it needs beside the command's own result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlive.cli.output import OutputError, write_plain

if TYPE_CHECKING:
    from outlive.finding import Finding
    from outlive.fitting.nouns import Fit
    from outlive.model import Model
    from outlive.quant.nouns import Drift
    from outlive.rendering.page import Page


def need_a_file(args: argparse.Namespace) -> None:
    """`OutputError` for a page that would fill a terminal, before anything is done."""
    if args.format == "html" and args.output is None and sys.stdout.isatty():
        raise OutputError("a page is to be opened in a browser: say where to write it, --output page.html")


def write_page(args: argparse.Namespace, page: Page, document: Any) -> None:
    """Write the page to the file that --output names, or to a pipe."""
    from outlive.rendering.media.html import render_html

    write_plain(args, render_html(page, document))


def show_broken(args: argparse.Namespace, kind: str, findings: Sequence[Finding], document: Any) -> None:
    """A file that cannot be used, or a run that was not started."""
    from outlive.rendering.page import broken_page

    write_page(args, broken_page(kind, args.file, findings), document)


def show_drift(args: argparse.Namespace, drift: Drift, document: Any) -> None:
    """A comparison."""
    from outlive.rendering.pages.compare import compare_page

    write_page(args, compare_page(drift, args.reference, args.candidate, _model(args.candidate)), document)


def show_fit(args: argparse.Namespace, fit: Fit, written: str | None) -> None:
    """What was tried to make a model fit."""
    from outlive.rendering.media.json import document_of
    from outlive.rendering.pages.fit import fit_page

    write_page(args, fit_page(fit), document_of(fit, written=written))


def _model(path: str) -> Model | None:
    from outlive.verbs.read import reading_of

    return reading_of(path).model
