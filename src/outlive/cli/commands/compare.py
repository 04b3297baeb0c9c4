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
from outlive.units import Step
from outlive.verbs.compare import compare

EXAMPLES = """\
Examples:
  outlive compare healthy.tflite healthy_int8.tflite                        with random samples
  outlive compare healthy.tflite healthy_int8.tflite --samples images/      with real images
  outlive compare healthy.tflite healthy_int8.tflite --layers 2:5           only these operators
  outlive compare healthy.tflite healthy_int8.tflite --layers CONV_2D 'stem/*'
  outlive compare healthy.tflite healthy_int8.tflite --memory 128MB         hold less at once
  outlive compare healthy.tflite healthy_int8.tflite --csv layers.csv       as TensorFlow's debugger writes it

Exit codes: 0 compared, 1 findings of severity error, or a model was refused, 2 usage, 3 a model died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "reference", "the model that is right, such as the float model", metavar="REFERENCE")
    option(parser, "candidate", "the model to compare with it, such as the int8 model", metavar="CANDIDATE")
    option(parser, "--samples")
    words = "compare only these operators: indices, ranges (10:20), types, names or patterns"
    option(parser, "--layers", words, nargs="+", action="extend", default=[], metavar="WHICH")
    words = "the most memory for captured tensors (default 512MB, or the need of the largest operator)"
    option(parser, "--memory", words)
    words = "the kernels that run both models: cpu is XNNPACK (default)"
    option(parser, "--accelerator", words)
    words = "do not run each operator alone: faster, but not sure which layer adds error"
    option(parser, "--no-born-here", words, dest="born_here", action="store_false")
    option(parser, "--top", "show N layers (default 3; -v shows all)", default=3, metavar="N")
    group = parser.add_argument_group("More files")
    option(group, "--csv", "write layer statistics with the columns of TensorFlow's debugger", metavar="FILE")
    option(group, "--node-data", "write an overlay for Model Explorer", metavar="FILE")
    option(group, "--plot", "draw the layers as .svg or .png", metavar="FILE")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Compare and report; the exit code says what it came to."""
    check_output(args, args.reference, args.candidate, beside=(args.csv, args.node_data, args.plot))
    with asking(args, "comparing") as tell:
        if args.plot:
            check_plot(args.plot)

        def hear(turn: int, turns: int, sample: int) -> None:
            words = f"sample {sample}" + (f", turn {turn} of {turns}" if turns > 1 else "")
            samples = getattr(sample, "total", None)
            tell(Step(words, (turn - 1) * samples + sample, turns * samples) if samples else words)

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
