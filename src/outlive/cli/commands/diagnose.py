"""`outlive diagnose`: why a model dies, hangs or is refused."""

from __future__ import annotations

import argparse

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import complain, progress, refuse_to_overwrite, words_of
from outlive.cli.present import add_output_options, need_a_file, present
from outlive.cli.run_options import add_run_options, options_for
from outlive.errors import OutliveError

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
    parser.add_argument("file", metavar="MODEL", help="a .tflite model")
    add_run_options(parser, "--inputs", "--input", seconds=" (default 8)")
    parser.add_argument(
        "--reduce",
        metavar="OUT.tflite",
        help="write the smallest model found that ends so (few operators, small tensors), with repro.py",
    )
    parser.add_argument(
        "--bundle", metavar="OUT.zip", help="write flights, findings, versions and the reproducer to a zip"
    )
    parser.add_argument(
        "--with-weights", action="store_true", help="put the model itself into the bundle as well"
    )
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Diagnose and report; the exit code says what it came to."""
    need_a_file(args)
    for output in (args.output, args.reduce, args.bundle):
        refuse_to_overwrite(output, [args.file])
    try:
        with progress() as tell:
            diagnosis = verbs.diagnose(args.file, **options_for(verbs.diagnose, args), tell=tell)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except (ValueError, OSError) as error:
        complain(f"outlive diagnose: {words_of(error, args.bundle, args.reduce)}")
        return exits.USAGE
    return present(args, diagnosis)
