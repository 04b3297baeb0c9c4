"""`outlive diagnose`: why a model dies, hangs or is refused."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_output_options, add_run_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_output, present
from outlive.verbs.diagnose import diagnose

EXAMPLES = """\
Examples:
  outlive diagnose deadly.tflite                          run it, and find the cause
  outlive diagnose deadly.tflite --seconds 20 --memory 512MB
  outlive diagnose deadly.tflite --reduce small.tflite    write the smallest model that dies the same way
  outlive diagnose deadly.tflite --bundle report.zip      a bug report, without weights
  outlive diagnose model.tflite --inputs batch.npz        with your inputs

Exit codes: 0 the model runs, 1 it was refused or its file is broken, 3 it died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file")
    add_run_options(parser, "--inputs", "--input", seconds=" (default 8)")
    option(parser, "--accelerator")
    option(parser, "--threads")
    words = "write the smallest model that ends the same way, and repro.py beside it"
    option(parser, "--reduce", words, metavar="OUT.tflite")
    words = "write a bug report: runs, findings, versions and a reproducer as a .zip file"
    option(parser, "--bundle", words, metavar="OUT.zip")
    option(parser, "--with-weights", "put the model into the bundle, weights included")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Diagnose and report; the exit code says what it came to."""
    check_output(args, args.file, beside=(args.reduce, args.bundle))
    with asking(args, "diagnosing", args.bundle, args.reduce) as tell:
        diagnosis = diagnose(args.file, **options_for(diagnose, args), tell=tell)
    return present(args, diagnosis)
