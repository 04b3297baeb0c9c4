"""`outlive delegates`: what each accelerator takes of a model, and does to it."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_output, present
from outlive.cli.terminal import complain
from outlive.verbs.delegates import delegates

EXAMPLES = """\
Examples:
  outlive delegates healthy.tflite                      every accelerator of this machine
  outlive delegates healthy.tflite --only xnnpack       this one, against the kernels of LiteRT
  outlive delegates healthy.tflite --only xnnpack-threads,xnnpack-latest,xnnpack-fp16
  outlive delegates healthy.tflite --delegate libvendor.so --delegate-option device=0
  outlive delegates healthy.tflite --only gpu --reduce small.tflite   the smallest part that dies or differs

Accelerators: reference, builtin, xnnpack, gpu, npu, flex, ethos-u. xnnpack-threads, xnnpack-latest,
xnnpack-fp16, xnnpack-weight-cache and gpu-float32 run only if you name them.

Exit codes: 0 all that are available run and agree, 1 one dies, differs or has wrong settings, 3 XNNPACK dies
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file")
    option(parser, "--only", "try only these accelerators, separated by commas", default=(), metavar="NAMES")
    words = "also try this delegate library (repeatable)"
    option(parser, "--delegate", words, dest="delegates", several=True, metavar="LIBRARY")
    words = "an option for the --delegate before it (repeatable)"
    option(parser, "--delegate-option", words, dest="delegate_options", several=True, metavar="KEY=VALUE")
    words = "input values: a .npy or .npz file, zeros, ones or random (default: seeded random numbers)"
    option(parser, "--input", words, dest="inputs", several=True, default=None, metavar="[NAME=]VALUE")
    option(parser, "--seed")
    option(parser, "--threads")
    option(parser, "--memory", "the most memory that an accelerator may add, such as 512MB")
    option(parser, "--seconds", "the most seconds that a call may take (default 60)", default=60.0)
    option(parser, "--bisect", "find the operators that make an accelerator die or differ")
    words = "write the smallest model that makes an accelerator die or differ (implies --bisect)"
    option(parser, "--reduce", words, metavar="OUT.tflite")
    words = "use no earlier results, and keep none"
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
