"""`outlive delegates`: what each accelerator takes of a model, and does to it."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_output, present
from outlive.cli.terminal import complain
from outlive.verbs.delegates import delegates

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
    option(parser, "file")
    option(parser, "--only", "accelerators to try, with commas between them", default=(), metavar="NAMES")
    words = "a delegate library to try as well (may be given several times)"
    option(parser, "--delegate", words, dest="delegates", several=True, metavar="LIBRARY")
    words = "an option of the --delegate before it"
    option(parser, "--delegate-option", words, dest="delegate_options", several=True, metavar="KEY=VALUE")
    words = "a .npy or .npz file, zeros, ones or random (default: seeded random numbers)"
    option(parser, "--input", words, dest="inputs", several=True, default=None, metavar="[NAME=]VALUE")
    option(parser, "--seed")
    option(parser, "--threads")
    option(parser, "--memory", "most private memory an accelerator may add, such as 512MB")
    option(parser, "--seconds", "most seconds a call may take (default 60)", default=60.0)
    option(parser, "--bisect", "find the operators that make an accelerator die or differ")
    words = "write the smallest model found that makes one die or differ (with --bisect, which it implies)"
    option(parser, "--reduce", words, metavar="OUT.tflite")
    words = "try again what was found out the last time, and keep nothing"
    option(parser, "--no-cache", words, dest="cache", action="store_false")
    add_output_options(parser, "html", "csv", "overlay")


def run(args: argparse.Namespace) -> int:
    """Try and report; the exit code says the worst that was seen."""
    check_output(args, args.file, beside=(args.reduce,))
    with asking(args) as tell:
        coverage = delegates(args.file, **options_for(delegates, args), tell=tell)
    if args.reduce is not None and all(one.culprit is None for one in coverage.accelerators):
        complain("outlive delegates: no part of the model makes an accelerator die or differ")
    return present(args, coverage)
