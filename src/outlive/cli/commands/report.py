"""`outlive report`: all that can be found out about a model, as one page to look at and to send."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import complain, progress, refuse_to_overwrite, say
from outlive.cli.present import add_output_options, present
from outlive.errors import OutliveError
from outlive.rendering import page_of
from outlive.units import format_bytes
from outlive.verbs.checking import ACCELERATORS

# Options that the verb takes under the same name.
_PASSED = (
    "ram", "device", "here", "run", "accelerator", "repeat", "memory", "seconds", "delegates", "reference",
    "samples",
)  # fmt: skip
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
    add_output_options(parser, "html", default="html")


def run(args: argparse.Namespace) -> int:
    """Find out, write, and say where it is; the exit code says the worst that was found."""
    if args.output is None and args.format == "html":
        args.output = Path(args.file).stem + ".html"
    refuse_to_overwrite(args.output, [args.file, *([args.reference] if args.reference else [])])
    try:
        with progress() as tell:
            seen = verbs.report(
                args.file,
                inputs=args.input or None,
                **{name: getattr(args, name) for name in _PASSED},
                tell=tell,
            )
            tell("writing")
            code = present(args, seen)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except (ValueError, OSError) as error:
        complain(f"outlive report: {error}")
        return exits.USAGE
    if args.format == "html":
        say(f"{args.output}  {format_bytes(os.path.getsize(args.output))}  {page_of(seen).verdict.word}")
    return code
