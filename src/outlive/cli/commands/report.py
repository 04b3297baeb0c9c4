"""`outlive report`: all that can be found out about a model, as one page to look at and to send."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import present
from outlive.cli.terminal import refuse_to_overwrite, say
from outlive.rendering import page_of
from outlive.units import format_bytes
from outlive.verbs.choices import ACCELERATORS
from outlive.verbs.report import report

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
    option(parser, "file")
    fit = parser.add_argument_group("does it fit?")
    one = fit.add_mutually_exclusive_group()
    option(one, "--ram")
    option(one, "--device")
    option(one, "--here", "this machine: its memory and limits")
    run = parser.add_argument_group("the run")
    words = "run it in a worker (default), or not"
    option(run, "--run", words, action=argparse.BooleanOptionalAction, default=True)
    words = "what it is planned for and run on (default cpu: XNNPACK)"
    option(run, "--accelerator", words, choices=ACCELERATORS, default=None)
    words = "a .npy or .npz file, zeros, ones or random (default: seeded random numbers)"
    option(run, "--input", words, dest="inputs", several=True, default=None, metavar="[NAME=]VALUE")
    option(run, "--repeat", "invoke N times (default 3)", default=3, metavar="N")
    option(run, "--memory")
    option(run, "--seconds", "most for a call (default 30)", default=30.0)
    more = parser.add_argument_group("more to find out")
    option(more, "--delegates", "try every accelerator here")
    option(more, "--reference", "the model this one was made from: compare with it", metavar="FLOAT")
    option(more, "--samples", "for --reference: an .npz or .npy file, or a folder")
    add_output_options(parser, "html", default="html")


def run(args: argparse.Namespace) -> int:
    """Find out, write, and say where it is; the exit code says the worst that was found."""
    if args.output is None and args.format == "html":
        args.output = Path(args.file).stem + ".html"
    refuse_to_overwrite([args.file, *filter(None, [args.reference])], args.output)
    with asking(args) as tell:
        seen = report(args.file, **options_for(report, args), tell=tell)
        tell("writing")
        code = present(args, seen)
    if args.format == "html":
        say(f"{args.output}  {format_bytes(os.path.getsize(args.output))}  {page_of(seen).verdict.word}")
    return code
