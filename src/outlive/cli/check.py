"""`outlive check`: what is wrong with models, before anything runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlive.arena.questions import ACCELERATORS
from outlive.cli import exits
from outlive.cli.config import NOTHING, Config, ConfigError, find_config
from outlive.cli.output import refuse_to_overwrite, track, write_json, write_plain, write_text
from outlive.finding import Severity
from outlive.model import read_source
from outlive.rules.choosing import split_words
from outlive.rules.quantization.expecting import EXPECTATIONS

if TYPE_CHECKING:
    from outlive.fitting.checking import Checked, Order

SUMMARY = "say what is wrong with models, and what they waste, before anything runs"
EXAMPLES = """\
examples:
  outlive check model.tflite                             everything the file shows
  outlive check model.tflite --device raspberry-pi-pico  and whether it fits
  outlive check model.tflite --inputs samples.npz        and whether these values are right for it
  outlive check model.tflite --expect int8               and whether it was quantized as it was to be
  outlive check models/*.tflite --select F,Q --ignore zero-scale
  outlive check model.tflite --format sarif --output outlive.sarif
  outlive check model.tflite --format github             annotations in a GitHub workflow
Defaults are read from [tool.outlive] in the nearest pyproject.toml, or from outlive.toml.
exit codes: 0 no error, 1 findings of severity error (with --strict also warnings), 2 usage,
4 the one thing wrong is that it does not fit
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a .tflite model")
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
    rules = parser.add_argument_group("rules")
    rules.add_argument(
        "--select", action="append", metavar="CODES", help="only these: codes, starts of codes, names"
    )
    rules.add_argument("--ignore", action="append", metavar="CODES", help="all but these")
    rules.add_argument(
        "--strict", action="store_true", default=None, help="warnings end with exit code 1 as well"
    )
    rules.add_argument("--no-config", action="store_true", help="read no pyproject.toml and no outlive.toml")
    fit = parser.add_argument_group("does it fit?")
    one = fit.add_mutually_exclusive_group()
    one.add_argument("--ram", metavar="SIZE", help="memory granted to the model, such as 64MB")
    one.add_argument("--device", metavar="NAME", help="a device by name, or a .toml file that describes one")
    one.add_argument(
        "--here", action="store_true", help="this machine: its memory and limits, and what is installed on it"
    )
    fit.add_argument("--accelerator", choices=ACCELERATORS, help="what it will run on (default cpu)")
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="text for people (default), json, SARIF 2.1.0, or GitHub workflow annotations",
    )
    group.add_argument("--output", metavar="FILE", help="write to FILE instead of standard output")


def run(args: argparse.Namespace) -> int:
    """Check the files and say what was found; the exit code says how bad it is."""
    refuse_to_overwrite(args.output, args.files)
    try:
        config = NOTHING if args.no_config else find_config(Path.cwd())
        order = _order(args, config)
        rows = _check(args.files, order)
    except (ConfigError, ValueError, OSError) as error:
        print(f"outlive check: {error}", file=sys.stderr)
        return exits.USAGE
    _show(args, order, rows)
    return _exit_code(rows, config.strict if args.strict is None else args.strict)


def _order(args: argparse.Namespace, config: Config) -> Order:
    """What is to be checked; what the command line says takes the place of what the configuration says."""
    from outlive.fitting.checking import make_order

    fit_given = args.device is not None or args.ram is not None or args.here
    return make_order(
        device=args.device if fit_given else config.device,
        ram=args.ram if fit_given else config.ram,
        here=args.here,
        inputs=load_inputs(args.inputs),
        accelerator=args.accelerator,
        expect=args.expect,
        select=_words(args.select, config.select),
        ignore=_words(args.ignore, config.ignore),
    )


def _words(given: list[str] | None, configured: tuple[str, ...]) -> tuple[str, ...]:
    return configured if given is None else tuple(word for text in given for word in split_words(text))


def load_inputs(words: list[str]) -> Any:
    """The arrays that `--inputs` names: by input, or one for the only input; None if nothing is given."""
    if not words:
        return None
    import zipfile

    from outlive.cli.run import parse_inputs

    for word in words:
        if Path(word.rpartition("=")[2]).suffix.lower() not in (".npy", ".npz"):
            raise ValueError(f"{word!r} holds no values: give an .npz file, or NAME=FILE.npy")
    try:
        return parse_inputs(words)
    except (EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"no arrays can be read from {' '.join(words)}: {error}") from error


def _check(files: list[str], order: Order) -> list[Checked]:
    from outlive.fitting.checking import check_reading

    return [check_reading(reading, order) for reading in map(read_source, track(files, "checking"))]


def _show(args: argparse.Namespace, order: Order, rows: list[Checked]) -> None:
    if args.format == "json":
        from outlive.report.check_json import check_json, checks_json

        documents = [check_json(row) for row in rows]
        write_json(args, documents[0] if len(documents) == 1 else checks_json(documents))
    elif args.format == "sarif":
        from outlive.report.sarif import sarif_log

        write_json(args, sarif_log(rows, order.rules, Path.cwd()))
    elif args.format == "github":
        from outlive.report.annotations import workflow_commands

        write_plain(args, "".join(line + "\n" for line in workflow_commands(rows, Path.cwd())))
    else:
        from outlive.report.check_text import check_text

        write_text(args, check_text(rows))


def _exit_code(rows: list[Checked], strict: bool) -> int:
    if strict and any(item.severity is Severity.WARNING for row in rows for item in row.judgement):
        return exits.FINDINGS
    bad = [row for row in rows if row.judgement.errors]
    if not bad:
        return exits.CLEAN
    return exits.DOES_NOT_FIT if all(row.only_too_big for row in bad) else exits.FINDINGS
