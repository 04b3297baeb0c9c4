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
Examples:
  outlive report healthy.tflite                            write healthy.html to this folder
  outlive report deadly.tflite -o report.html --device raspberry-pi-zero-2-w
  outlive report healthy.tflite --open                     open it in your browser
  outlive report healthy.tflite -o report.html --no-run    do not run the model
  outlive report healthy.tflite -o report.html --delegates     try each accelerator, too
  outlive report healthy_int8.tflite -o report.html --reference healthy.tflite

The page works offline: it holds its data, style and script. --format json writes the data alone.

Exit codes: 0 no error, 1 findings of severity error, or the model was refused, 2 usage, 3 the model died,
4 it does not fit
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file")
    fit = parser.add_argument_group("Memory budget")
    one = fit.add_mutually_exclusive_group()
    option(one, "--ram")
    option(one, "--device")
    option(one, "--here", "the memory that this machine or container has left")
    run = parser.add_argument_group("Run")
    words = "run the model in a worker (default), or not"
    option(run, "--run", words, action=argparse.BooleanOptionalAction, default=True)
    words = "the kernels to plan for and run on (default cpu: XNNPACK)"
    option(run, "--accelerator", words, choices=ACCELERATORS, default=None)
    words = "input values: a .npy or .npz file, zeros, ones or random (default: seeded random numbers)"
    option(run, "--input", words, dest="inputs", several=True, default=None, metavar="[NAME=]VALUE")
    option(run, "--repeat", "call the model N times (default 3)", default=3, metavar="N")
    option(run, "--memory")
    option(run, "--seconds", "the most seconds for a call (default 30)", default=30.0)
    more = parser.add_argument_group("More sections")
    option(more, "--delegates", "try each accelerator of this machine")
    option(more, "--reference", "compare with the model that this one was made from", metavar="FLOAT")
    option(more, "--samples", "samples for --reference: an .npz or .npy file, or a folder")
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
