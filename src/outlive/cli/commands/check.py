"""`outlive check`: what is wrong with models, before anything runs."""

from __future__ import annotations

import argparse

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import complain, progress, refuse_to_overwrite
from outlive.cli.present import add_output_options, exit_code, need_a_file, present
from outlive.verbs.checking import ACCELERATORS, EXPECTATIONS, UnreadableConfig

EXAMPLES = """\
examples:
  outlive check model.tflite                             everything the file shows
  outlive check model.tflite --device raspberry-pi-pico  and whether it fits
  outlive check model.tflite --inputs samples.npz        and whether these values are right for it
  outlive check model.tflite --expect int8               and whether it was quantized as it was to be
  outlive check models/ --select F,Q --ignore zero-scale   every model below a folder
  outlive check --changed                                models that git has not committed yet
  outlive check --changed=origin/main                    models that this branch changes
  outlive check model.tflite --format sarif --output outlive.sarif
  outlive check model.tflite --format github             annotations in a GitHub workflow
  outlive check *.tflite --also junit=report.xml --also gitlab=quality.json
Defaults are read from [tool.outlive] in the nearest pyproject.toml, or from outlive.toml.
exit codes: 0 no error, 1 findings of severity error (with --strict also warnings), 2 usage,
4 the one thing wrong is that it does not fit
"""
_FORMATS = ("html", "sarif", "github", "gitlab", "junit", "markdown")


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
    group = add_output_options(parser, *_FORMATS)
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
    rules.add_argument(
        "--no-config", dest="config", action="store_false", help="read no pyproject.toml and no outlive.toml"
    )


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
                config=args.config,
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
        present(args, found)
    return exit_code(found)


def _also(word: str) -> tuple[str, str]:
    name, _, output = word.partition("=")
    known = ("text", "json", *_FORMATS)
    if name not in known or not output:
        raise ValueError(f"--also {word}: write FORMAT=FILE, where FORMAT is one of {', '.join(known)}")
    return name, output
