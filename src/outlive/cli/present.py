"""The one place that chooses medium, file and exit code of a result."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from outlive.cli import exits
from outlive.cli.terminal import (
    OutputError,
    complain,
    complain_lines,
    refuse_to_overwrite,
    write_plain,
    write_text,
)
from outlive.errors import LimitReached, OutliveError
from outlive.finding import Severity

# Formats that have no room for findings.
_BARE = ("csv", "trace", "overlay")
_NOTHING: Mapping[str, object] = {}
_OUTCOMES = {
    "clean": exits.CLEAN,
    "errors": exits.FINDINGS,
    "died": exits.DIED,
    "does not fit": exits.DOES_NOT_FIT,
}


def check_output(args: argparse.Namespace, *inputs: str, beside: tuple[str | None, ...] = ()) -> None:
    """`OutputError`, before anything is done, for outputs that would replace an input or fill a terminal.

    `beside` are further files that the command writes.
    """
    _check_page(args, args.output is None, "name a file for it with -o page.html, or give --open")
    refuse_to_overwrite(inputs, args.output, *beside)


def check_model_output(args: argparse.Namespace, *inputs: str) -> None:
    """The same for a command whose `--output` is a model, and whose page goes to standard output."""
    _check_page(args, True, "send it to a file with > page.html, or give --open")
    refuse_to_overwrite(inputs, args.output)


def _check_page(args: argparse.Namespace, to_stdout: bool, hint: str) -> None:
    if getattr(args, "open", False):
        if args.format not in ("text", "html"):
            raise OutputError(f"--open shows an HTML page; leave out --format {args.format}")
        args.format = "html"
    elif args.format == "html" and to_stdout and sys.stdout.isatty():
        raise OutputError(f"an HTML page is for a browser: {hint}")


def present(args: argparse.Namespace, result: Any) -> int:
    """Show a result in the format asked for, where it was asked for; the exit code."""
    from outlive.rendering import page_of

    opens = getattr(args, "open", False)
    if opens and args.output is None:
        args.output = os.path.join(tempfile.mkdtemp(prefix="outlive-"), f"{result.kind}.html")
    if args.format == "text" and args.quiet:
        write_text(args, map(_line, _each(result)))
    elif args.format == "text":
        from outlive.rendering.media.text import draw_text

        write_text(args, draw_text(page_of(result), args.verbose))
    elif args.format in ("json", "html"):
        from outlive.rendering.media.json import document_of

        document = document_of(result)
        _write_document(args, document, None if args.format == "json" else page_of(result))
    else:
        _export(args, result)
    if opens:
        _open_page(args.output)
    return exit_code(result)


def _each(result: Any) -> Iterator[Any]:
    """The result of each file, where there are several."""
    several = result.files if result.kind in ("check", "read") else ()
    yield from (replace(result, files=(one,)) for one in several) if len(several) > 1 else (result,)


def _line(result: Any) -> Any:
    """The verdict on a result, in a line."""
    from rich.text import Text

    from outlive.names import safe
    from outlive.rendering import page_of
    from outlive.rendering.media.text import COLOURS

    page = page_of(result)
    colour = COLOURS[page.verdict.tone]
    return Text.assemble(safe(page.subtitle or page.title, 160), ": ", (safe(page.verdict.word, 200), colour))


def _open_page(path: str) -> None:
    """Show a page in the browser; where none can be started, say where the page is."""
    import webbrowser
    from pathlib import Path

    if webbrowser.open(Path(path).absolute().as_uri()):
        complain(f"opened {path}")
    else:
        complain(f"outlive: no browser could be started here; the page is {path}")


def tell(args: argparse.Namespace, result: Any) -> int:
    """Present a result on standard output, where the file that --output names is something else."""
    return present(argparse.Namespace(**{**vars(args), "output": None}), result)


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
    from outlive.rendering.page import broken_page

    findings = error.findings
    if args.format == "text":
        write_text(args, (rich_finding(item, args.verbose) for item in findings))
    elif args.format in ("json", "html"):
        document = {**refusal_document(kind, path, findings), **more}
        page = None if args.format == "json" else broken_page(kind, path, findings)
        _write_document(args, document, page)
    else:
        for finding in findings:
            complain_lines(plain_finding(finding))
    return exits.DOES_NOT_FIT if isinstance(error, LimitReached) else exits.FINDINGS


def _write_document(args: argparse.Namespace, document: Mapping[str, Any], page: Any) -> None:
    """The document alone, or inside its page."""
    if page is None:
        from outlive.rendering.media.json import dump

        write_plain(args, dump(document) + "\n")
        return
    from outlive.rendering.media.html import render_html

    write_plain(args, render_html(page, document))


def _export(args: argparse.Namespace, result: Any) -> None:
    """What other tools read; errors go to standard error where the format has no room for them."""
    from outlive.rendering.finding_text import plain_finding

    write_plain(args, import_module(f"outlive.rendering.media.{args.format}").render(result))
    for finding in getattr(result, "findings", ()) if args.format in _BARE else ():
        if finding.severity is Severity.ERROR:
            complain_lines(plain_finding(finding))
