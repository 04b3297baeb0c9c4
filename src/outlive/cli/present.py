"""The one place that chooses medium, file and exit code of a result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from outlive.cli import exits
from outlive.cli.output import FORMATS, OutputError, complain_lines, write_json, write_plain, write_text
from outlive.errors import LimitReached, OutliveError
from outlive.finding import Severity

# Media that need the whole result and not its page: modules of rendering.media with a function `render`.
_EXPORTS = ("csv", "trace", "overlay", "sarif", "junit", "github", "gitlab", "markdown")
# Those that have no room for findings.
_BARE = ("csv", "trace", "overlay")
_NOTHING: Mapping[str, object] = {}
_OUTCOMES = {
    "clean": exits.CLEAN,
    "errors": exits.FINDINGS,
    "died": exits.DIED,
    "does not fit": exits.DOES_NOT_FIT,
}


def add_output_options(
    parser: argparse.ArgumentParser, *more: str, default: str = "text"
) -> argparse._ArgumentGroup:
    """Give a command `--format`, `--output` and `-v`; `more` are formats beside text and json."""
    group = parser.add_argument_group("output")
    choices = ("text", "json", *more)
    words = ", ".join(FORMATS[name] for name in choices)
    group.add_argument("--format", choices=choices, default=default, help=words)
    group.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    group.add_argument("-v", "--verbose", action="count", default=0, help="show more; -vv shows everything")
    return group


def add_telling_options(parser: argparse.ArgumentParser) -> None:
    """The same for a command whose `--output` is a model: what is said goes to standard output."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=("text", "json", "html"),
        default="text",
        help="how to tell what was done (default text); html goes to standard output: > page.html",
    )
    group.add_argument("-v", "--verbose", action="count", default=0, help="show more; -vv shows everything")


def need_a_pipe(args: argparse.Namespace) -> None:
    """`need_a_file` for such a command."""
    if args.format == "html" and sys.stdout.isatty():
        raise OutputError("a page is to be opened in a browser: send it to a file, > page.html")


def need_a_file(args: argparse.Namespace) -> None:
    """`OutputError` for a page that would fill a terminal, before anything is done."""
    if args.format == "html" and args.output is None and sys.stdout.isatty():
        raise OutputError("a page is to be opened in a browser: say where to write it, --output page.html")


def present(args: argparse.Namespace, result: Any) -> int:
    """Show a result in the format asked for, where it was asked for; the exit code."""
    from outlive.rendering import page_of

    if args.format == "text":
        from outlive.rendering.media.text import draw_text

        write_text(args, draw_text(page_of(result), args.verbose))
    elif args.format == "json":
        from outlive.rendering.media.json import document_of

        write_json(args, document_of(result))
    elif args.format == "html":
        from outlive.rendering.media.html import render_html
        from outlive.rendering.media.json import document_of

        write_plain(args, render_html(page_of(result), document_of(result)))
    else:
        _export(args, result)
    return exit_code(result)


def exit_code(result: Any) -> int:
    """What the result comes to, as an exit code: it says so itself, or its findings do."""
    outcome = getattr(result, "outcome", None)
    if outcome is None:
        bad = any(finding.severity is Severity.ERROR for finding in getattr(result, "findings", ()))
        outcome = "errors" if bad else "clean"
    return _OUTCOMES[outcome]


def present_refusal(
    args: argparse.Namespace, kind: str, path: str, error: OutliveError, more: Mapping[str, object] = _NOTHING
) -> int:
    """Show why there is no result: the findings of a file that cannot be used, in the format asked for.

    `more` are fields of the document.
    """
    from outlive.rendering.finding_text import plain_finding, rich_finding
    from outlive.rendering.media.json import refusal_document

    findings = error.findings
    if args.format == "text":
        write_text(args, map(rich_finding, findings))
    elif args.format in ("json", "html"):
        document = {**refusal_document(kind, path, findings), **more}
        _write_refusal(args, kind, path, findings, document)
    else:
        for finding in findings:
            complain_lines(plain_finding(finding))
    return exits.DOES_NOT_FIT if isinstance(error, LimitReached) else exits.FINDINGS


def _write_refusal(args: argparse.Namespace, kind: str, path: str, findings: Any, document: Any) -> None:
    if args.format == "json":
        write_json(args, document)
        return
    from outlive.rendering.media.html import render_html
    from outlive.rendering.page import broken_page

    write_plain(args, render_html(broken_page(kind, path, findings), document))


def _export(args: argparse.Namespace, result: Any) -> None:
    """What other tools read; errors go to standard error where the format has no room for them."""
    from importlib import import_module

    from outlive.rendering.finding_text import plain_finding

    write_plain(args, import_module(f"outlive.rendering.media.{args.format}").render(result))
    for finding in getattr(result, "findings", ()) if args.format in _BARE else ():
        if finding.severity is Severity.ERROR:
            complain_lines(plain_finding(finding))
