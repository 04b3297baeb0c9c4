"""`outlive report`: all that can be found out about a model, as one page to look at and to send."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from outlive import verbs
from outlive.cli import exits
from outlive.cli.commands.diagnose import exit_code
from outlive.cli.output import (
    complain,
    progress,
    refuse_to_overwrite,
    say,
    write_json,
    write_plain,
    write_text,
)
from outlive.errors import OutliveError
from outlive.finding import Severity
from outlive.verbs.checking import ACCELERATORS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from outlive.diagnosis.examination import Examination
    from outlive.rendering.html.blocks import Page

EXAMPLES = """\
examples:
  outlive report model.tflite                            writes model.html beside where you are
  outlive report model.tflite -o report.html --device raspberry-pi-zero-2-w
  outlive report model.tflite -o report.html --no-run    read, planned and checked, but not run
  outlive report model.tflite -o report.html --delegates     and what each accelerator here takes of it
  outlive report int8.tflite -o report.html --reference float.tflite --samples calibration.npz
The page holds its data, style and script, and fetches nothing. --format json gives the data alone.
exit codes: 0 no error, 1 findings of severity error, or it is refused, 2 usage, 3 it died, 4 it does not fit
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("file", metavar="MODEL", help="a .tflite model")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write it (default: the model's name with .html)"
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "html"),
        default="html",
        help="html to look at (default), json for programs, text in short",
    )
    fit = parser.add_argument_group("does it fit?")
    one = fit.add_mutually_exclusive_group()
    one.add_argument("--ram", metavar="SIZE", help="memory granted to the model, such as 64MB")
    one.add_argument("--device", metavar="NAME", help="a device by name, or a .toml file that describes one")
    one.add_argument("--here", action="store_true", help="this machine: its memory and limits")
    run = parser.add_argument_group("the run")
    run.add_argument(
        "--run",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="run it in a worker (default), or not",
    )
    run.add_argument(
        "--accelerator", choices=ACCELERATORS, help="what it is planned for and run on (default cpu: XNNPACK)"
    )
    run.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]VALUE",
        help="a .npy or .npz file, zeros, ones or random (default: seeded random numbers)",
    )
    run.add_argument("--repeat", type=int, default=3, metavar="N", help="invoke N times (default 3)")
    run.add_argument("--memory", metavar="SIZE", help="most private memory the model may add, such as 512MB")
    run.add_argument("--seconds", type=float, default=30.0, metavar="S", help="most for a call (default 30)")
    more = parser.add_argument_group("more to find out")
    more.add_argument("--delegates", action="store_true", help="try every accelerator here")
    more.add_argument(
        "--reference", metavar="FLOAT", help="the model this one was made from: compare with it"
    )
    more.add_argument("--samples", metavar="WHERE", help="for --reference: an .npz or .npy file, or a folder")


def run(args: argparse.Namespace) -> int:
    """Find out, write, and say where it is; the exit code says the worst that was found."""
    if args.output is None and args.format == "html":
        args.output = Path(args.file).stem + ".html"
    refuse_to_overwrite(args.output, [args.file, *([args.reference] if args.reference else [])])
    try:
        with progress() as tell:
            seen = verbs.report(
                args.file,
                ram=args.ram,
                device=args.device,
                here=args.here,
                run=args.run,
                accelerator=args.accelerator,
                inputs=args.input or None,
                repeat=args.repeat,
                memory=args.memory,
                seconds=args.seconds,
                delegates=args.delegates,
                reference=args.reference,
                samples=args.samples,
                tell=tell,
            )
            tell("writing")
            said = _tell(args, seen)
        if said:
            say(said)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except (ValueError, OSError) as error:
        complain(f"outlive report: {error}")
        return exits.USAGE
    return _exit_code(seen)


def _tell(args: argparse.Namespace, seen: Examination) -> str:
    if args.format == "html":
        return _write(args, seen)
    from outlive.rendering.html.report_page import report_json, report_page

    if args.format == "json":
        write_json(args, report_json(seen))
    else:
        write_text(args, _text(report_page(seen), seen))
    return ""


def _text(page: Page, seen: Examination) -> Iterator[RenderableType]:
    """The top of the page, and the findings."""
    from rich.text import Text

    from outlive.names import safe
    from outlive.rendering.finding_text import rich_finding

    tone = {"good": "green", "warn": "yellow", "bad": "red"}.get(page.verdict.tone, "")
    word = safe(page.verdict.word, 200)
    yield Text.assemble((safe(page.title, 160), "bold"), "  ", (word, f"bold {tone}".strip()))
    yield Text(f"  {safe(page.verdict.sentence, 600)}")
    for tile in page.tiles:
        yield Text(f"  {tile.label}: {tile.value}" + (f" ({safe(tile.note, 200)})" if tile.note else ""))
    told = seen.diagnosis.verdict if seen.diagnosis is not None else None
    yield from (rich_finding(item) for item in ((told,) if told else ()) + seen.findings)


def _write(args: argparse.Namespace, seen: Examination) -> str:
    """Write the page; the line that says so."""
    from outlive.names import safe
    from outlive.rendering.html.page import render_page
    from outlive.rendering.html.report_page import report_page
    from outlive.units import format_bytes

    page = report_page(seen)
    text = render_page(page)
    write_plain(args, text)
    return f"{safe(args.output, 200)}  {format_bytes(len(text))}  {safe(page.verdict.word, 120)}"


def _exit_code(seen: Examination) -> int:
    if seen.diagnosis is not None and seen.ended_badly:
        return exit_code(seen.diagnosis)
    if seen.checked.only_too_big:
        return exits.DOES_NOT_FIT
    bad = any(item.severity is Severity.ERROR for item in seen.findings)
    return exits.FINDINGS if bad else exits.CLEAN
