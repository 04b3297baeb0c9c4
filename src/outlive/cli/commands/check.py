"""`outlive check`: what is wrong with models, before anything runs."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import complain, progress, refuse_to_overwrite, write_json, write_plain, write_text
from outlive.cli.pages import need_a_file, show_checks
from outlive.verbs.checking import ACCELERATORS, EXPECTATIONS, UnreadableConfig

if TYPE_CHECKING:
    from outlive.rules.checked import Checks

EXAMPLES = """\
examples:
  outlive check model.tflite                             everything the file shows
  outlive check model.tflite --device raspberry-pi-pico  and whether it fits
  outlive check model.tflite --inputs samples.npz        and whether these values are right for it
  outlive check model.tflite --expect int8               and whether it was quantized as it was to be
  outlive check models/ --select F,Q --ignore zero-scale every model below a folder
  outlive check --changed                                models that git has not committed yet
  outlive check --changed=origin/main                    models that this branch changes
  outlive check model.tflite --format sarif --output outlive.sarif
  outlive check model.tflite --format github             annotations in a GitHub workflow
  outlive check *.tflite --also junit=report.xml --also gitlab=quality.json
Defaults are read from [tool.outlive] in the nearest pyproject.toml, or from outlive.toml.
exit codes: 0 no error, 1 findings of severity error (with --strict also warnings), 2 usage,
4 the one thing wrong is that it does not fit
"""
_FORMATS = {
    "text": "text for people (default)",
    "json": "json for programs",
    "html": "html to look at and to send",
    "sarif": "sarif 2.1.0",
    "github": "github workflow annotations",
    "gitlab": "gitlab code quality",
    "junit": "junit xml",
    "markdown": "markdown for a job summary",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="a .tflite model, or a folder or pattern of them"
    )
    parser.add_argument(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="REV",
        help="models that git says have changed since REV (default HEAD); FILEs and folders narrow it down",
    )
    parser.add_argument(
        "--force-exclude",
        action="store_true",
        help="leave out what the configuration excludes even where it is named as a FILE",
    )
    parser.add_argument(
        "--inputs",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="values the model would be given: an .npz file, or a .npy file for an input",
    )
    parser.add_argument(
        "--expect",
        choices=tuple(EXPECTATIONS),
        help="what the model was to be quantized to: values (int8, int16), also inputs and outputs (-io), "
        "or weights only (dynamic, float16)",
    )
    _add_rules(parser)
    _add_fit(parser)
    group = parser.add_argument_group("output")
    words = ", ".join(_FORMATS.values())
    group.add_argument("--format", choices=tuple(_FORMATS), default="text", help=words)
    group.add_argument("--output", metavar="FILE", help="write to FILE instead of standard output")
    group.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help="write another format to a file as well (may be given several times)",
    )


def _add_rules(parser: argparse.ArgumentParser) -> None:
    rules = parser.add_argument_group("rules")
    rules.add_argument(
        "--select", action="append", metavar="CODES", help="only these: codes, starts of codes, names"
    )
    rules.add_argument("--ignore", action="append", metavar="CODES", help="all but these")
    rules.add_argument(
        "--strict", action="store_true", default=None, help="warnings end with exit code 1 as well"
    )
    rules.add_argument("--no-config", action="store_true", help="read no pyproject.toml and no outlive.toml")


def _add_fit(parser: argparse.ArgumentParser) -> None:
    fit = parser.add_argument_group("does it fit?")
    one = fit.add_mutually_exclusive_group()
    one.add_argument("--ram", metavar="SIZE", help="memory granted to the model, such as 64MB")
    one.add_argument(
        "--device",
        action="append",
        metavar="NAME",
        help="a device by name, or a .toml file that describes one (may be given several times)",
    )
    one.add_argument(
        "--here", action="store_true", help="this machine: its memory and limits, and what is installed on it"
    )
    fit.add_argument("--accelerator", choices=ACCELERATORS, help="what it will run on (default cpu)")


def run(args: argparse.Namespace) -> int:
    """Check the files and say what was found; the exit code says how bad it is."""
    need_a_file(args)
    try:
        outputs = [(args.format, args.output), *map(_also, args.also)]
        with progress("checking") as tell:
            found = verbs.check(
                args.files,
                changed=args.changed,
                force_exclude=args.force_exclude,
                inputs=args.inputs or None,
                expect=args.expect,
                select=args.select,
                ignore=args.ignore,
                strict=args.strict,
                config=not args.no_config,
                ram=args.ram,
                device=args.device,
                here=args.here,
                accelerator=args.accelerator,
                tell=tell,
            )
    except (ValueError, OSError) as error:
        hint = " (--no-config leaves it out)" if isinstance(error, UnreadableConfig) else ""
        complain(f"outlive check: {error}{hint}")
        return exits.USAGE
    for name, output in outputs:
        refuse_to_overwrite(output, [file.reading.path or "" for file in found.files])
        args.format, args.output = name, output
        _show(args, found)
    if found.only_too_big:
        return exits.DOES_NOT_FIT
    return exits.FINDINGS if found.fails else exits.CLEAN


def _also(word: str) -> tuple[str, str]:
    name, _, output = word.partition("=")
    if name not in _FORMATS or not output:
        raise ValueError(f"--also {word}: write FORMAT=FILE, where FORMAT is one of {', '.join(_FORMATS)}")
    return name, output


def _show(args: argparse.Namespace, found: Checks) -> None:
    """Write one format to its place."""
    here, rows = Path.cwd(), found.files
    if args.format in ("json", "html"):
        from outlive.rendering.check_json import check_json, checks_json

        documents = [check_json(row) for row in rows]
        told = documents[0] if len(documents) == 1 else checks_json(documents)
        if args.format == "html":
            show_checks(args, rows, told)
        else:
            write_json(args, told)
    elif args.format == "sarif":
        from outlive.rendering.sarif import sarif_log

        write_json(args, sarif_log(rows, found.rules, here))
    elif args.format == "gitlab":
        from outlive.rendering.gitlab import quality_issues

        write_json(args, quality_issues(rows, here))
    elif args.format == "github":
        from outlive.rendering.annotations import workflow_commands

        write_plain(args, "".join(line + "\n" for line in workflow_commands(rows, here)))
    elif args.format == "junit":
        from outlive.rendering.junit import junit_xml

        write_plain(args, junit_xml(rows, here, strict=found.strict))
    elif args.format == "markdown":
        from outlive.rendering.markdown import summary_markdown

        write_plain(args, summary_markdown(rows, here, found.reasons))
    else:
        from outlive.rendering.check_text import check_text
        from outlive.rendering.ignored_text import ignored_text

        write_text(args, itertools.chain(check_text(rows), ignored_text(rows, found.reasons)))
