"""`outlive compare`: how far a model is from its reference, layer by layer."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_output, present
from outlive.cli.terminal import write_file, writing
from outlive.rendering.media.json import dump
from outlive.rendering.picture import check_plot, plot
from outlive.verbs.compare import compare

EXAMPLES = """\
examples:
  outlive compare float.tflite int8.tflite --samples calibration.npz
  outlive compare float.tflite int8.tflite --samples photos/ --layers 10:20     only these operators
  outlive compare float.tflite int8.tflite --samples a.npz --layers CONV_2D 'stage4/*'
  outlive compare float.tflite int8.tflite --samples a.npz --memory 128MB       in turns, if need be
  outlive compare float.tflite int8.tflite --samples a.npz --csv layers.csv     as TensorFlow's debugger
exit codes: 0 compared, 1 findings of severity error, or the models were refused, 2 usage, 3 a model died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "reference", "the model that is right", metavar="REFERENCE")
    option(parser, "candidate", "the model that is asked about", metavar="CANDIDATE")
    option(parser, "--samples")
    words = "only these operators: indices, ranges (10:20), types, names or patterns of names"
    option(parser, "--layers", words, nargs="+", action="extend", default=[], metavar="WHICH")
    words = "what may be held at once (default 512MB, or what a single operator takes, if that is more)"
    option(parser, "--memory", words)
    words = "what runs the models: cpu (XNNPACK, the default), builtin or reference kernels"
    option(parser, "--accelerator", words)
    words = "do not run operators alone: quicker, and says less about where errors arise"
    option(parser, "--no-born-here", words, dest="born_here", action="store_false")
    option(parser, "--top", "how many layers to show (3; -v shows all)", default=3, metavar="N")
    group = parser.add_argument_group("more files")
    option(group, "--csv", "layer statistics as TensorFlow's debugger writes them", metavar="FILE")
    option(group, "--node-data", "an overlay for Model Explorer", metavar="FILE")
    option(group, "--plot", "a picture of the layers, .svg or .png", metavar="FILE")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Compare and report; the exit code says what it came to."""
    check_output(args, args.reference, args.candidate, beside=(args.csv, args.node_data, args.plot))
    with asking(args, "comparing") as tell:
        if args.plot:
            check_plot(args.plot)

        def hear(turn: int, turns: int, sample: int) -> None:
            tell(f"sample {sample}" + (f", turn {turn} of {turns}" if turns > 1 else ""))

        drift = compare(**options_for(compare, args), tell=hear)
    _write_more(args, drift)
    return present(args, replace(drift, top=args.top))


def _write_more(args: argparse.Namespace, drift: Any) -> None:
    from outlive.rendering.media.csv import drift_csv
    from outlive.rendering.media.overlay import drift_overlay, graph_name

    if args.csv:
        write_file(args.csv, drift_csv(drift.tensors))
    if args.node_data:
        write_file(args.node_data, dump(drift_overlay(drift, graph_name(drift.source))) + "\n")
    if args.plot:
        with writing(args.plot):
            plot(drift, args.plot)
