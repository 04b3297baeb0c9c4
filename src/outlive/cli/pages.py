"""`--format html`: the page of each command, with what it needs beside the command's own result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlive.cli.output import OutputError, write_plain

if TYPE_CHECKING:
    from outlive.finding import Finding
    from outlive.fitting.checking import Checked
    from outlive.model import Model
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


def show_checks(args: argparse.Namespace, rows: Sequence[Checked], document: Any) -> None:
    """What is wrong with files."""
    from outlive.rendering.pages.check import check_page

    write_page(args, check_page(rows), document)


def _model(path: str) -> Model | None:
    from outlive.verbs.read import reading_of

    return reading_of(path).model
