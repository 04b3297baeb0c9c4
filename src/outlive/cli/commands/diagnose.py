"""`outlive diagnose`: why a model dies, hangs or is refused."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_output_options, add_run_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_output, present
from outlive.verbs.diagnose import diagnose

EXAMPLES = """\
examples:
  outlive diagnose model.tflite                           run it, and find out what it takes
  outlive diagnose model.tflite --inputs batch.npz --seconds 20 --memory 512MB
  outlive diagnose model.tflite --reduce small.tflite     the smallest model that ends so, and repro.py
  outlive diagnose model.tflite --bundle report.zip       all that was seen; weights only --with-weights
exit codes: 0 it runs, 1 it was refused or is not sound, 3 it died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file")
    add_run_options(parser, "--inputs", "--input", seconds=" (default 8)")
    option(parser, "--accelerator")
    option(parser, "--threads")
    words = "write the smallest model found that ends so (few operators, small tensors), with repro.py"
    option(parser, "--reduce", words, metavar="OUT.tflite")
    words = "write flights, findings, versions and the reproducer to a zip"
    option(parser, "--bundle", words, metavar="OUT.zip")
    option(parser, "--with-weights", "put the model itself into the bundle as well")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Diagnose and report; the exit code says what it came to."""
    check_output(args, args.file, beside=(args.reduce, args.bundle))
    with asking(args, "", args.bundle, args.reduce) as tell:
        diagnosis = diagnose(args.file, **options_for(diagnose, args), tell=tell)
    return present(args, diagnosis)
