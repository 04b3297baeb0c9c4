"""`outlive delegates`: what each accelerator takes of a model, and does to it."""

from __future__ import annotations

import argparse

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import complain, progress, refuse_to_overwrite
from outlive.cli.present import add_output_options, need_a_file, present
from outlive.cli.run_options import options_for
from outlive.errors import OutliveError

EXAMPLES = """\
examples:
  outlive delegates model.tflite                        all accelerators that this machine has
  outlive delegates model.tflite --only gpu,xnnpack     these, beside LiteRT's own kernels
  outlive delegates model.tflite --only xnnpack-threads,xnnpack-latest,xnnpack-fp16
  outlive delegates model.tflite --delegate libvendor.so --delegate-option device=0
  outlive delegates model.tflite --only gpu --reduce small.tflite   the smallest part that dies or differs
accelerators: reference builtin xnnpack gpu npu flex ethos-u; xnnpack-threads, xnnpack-latest, xnnpack-fp16,
xnnpack-weight-cache and gpu-float32 only when they are named
exit codes: 0 all that are here run and agree, 1 one dies, differs or is set up wrongly, 3 XNNPACK dies
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("file", metavar="MODEL", help="a .tflite model")
    parser.add_argument(
        "--only", default=(), metavar="NAMES", help="accelerators to try, with commas between them"
    )
    parser.add_argument(
        "--delegate",
        dest="delegates",
        action="append",
        default=[],
        metavar="LIBRARY",
        help="a delegate library to try as well (may be given several times)",
    )
    parser.add_argument(
        "--delegate-option",
        dest="delegate_options",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the --delegate before it",
    )
    parser.add_argument(
        "--input",
        dest="inputs",
        action="append",
        metavar="[NAME=]VALUE",
        help="a .npy or .npz file, zeros, ones or random (default: seeded random numbers)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of random inputs (default 0)")
    parser.add_argument("--threads", type=int, metavar="N", help="threads the model may use")
    parser.add_argument(
        "--memory", metavar="SIZE", help="most private memory an accelerator may add, such as 512MB"
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, metavar="S", help="most seconds a call may take (default 60)"
    )
    parser.add_argument(
        "--bisect",
        action="store_true",
        help="find the operators that make an accelerator die or differ",
    )
    parser.add_argument(
        "--reduce",
        metavar="OUT.tflite",
        help="write the smallest model found that makes one die or differ (with --bisect, which it implies)",
    )
    parser.add_argument(
        "--no-cache",
        dest="cache",
        action="store_false",
        help="try again what was found out the last time, and keep nothing",
    )
    add_output_options(parser, "html", "csv", "overlay")


def run(args: argparse.Namespace) -> int:
    """Try and report; the exit code says the worst that was seen."""
    need_a_file(args)
    for output in (args.output, args.reduce):
        refuse_to_overwrite(output, [args.file])
    try:
        with progress() as tell:
            coverage = verbs.delegates(args.file, **options_for(verbs.delegates, args), tell=tell)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except (ValueError, OSError) as error:
        complain(f"outlive delegates: {error}")
        return exits.USAGE
    if args.reduce is not None and all(one.culprit is None for one in coverage.accelerators):
        complain("outlive delegates: no part of the model makes an accelerator die or differ")
    return present(args, coverage)
