"""`outlive compare`: how far a model is from its reference, layer by layer."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from outlive import verbs
from outlive.cli.failures import tell_failure
from outlive.cli.output import progress, refuse_to_overwrite, write_file, writing
from outlive.cli.present import add_output_options, need_a_file, present
from outlive.errors import OutliveError
from outlive.rendering.media.json import dump
from outlive.rendering.plan_plot import check_plot

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
    parser.add_argument("reference", metavar="REFERENCE", help="the model that is right")
    parser.add_argument("candidate", metavar="CANDIDATE", help="the model that is asked about")
    parser.add_argument(
        "--samples", metavar="WHERE", help="an .npz or .npy file, or a folder of .npy, .npz and picture files"
    )
    parser.add_argument(
        "--layers",
        nargs="+",
        action="extend",
        default=[],
        metavar="WHICH",
        help="only these operators: indices, ranges (10:20), types, names or patterns of names",
    )
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="what may be held at once (default 512MB, or what a single operator takes, if that is more)",
    )
    parser.add_argument(
        "--accelerator",
        choices=("cpu", "builtin", "reference"),
        default="cpu",
        help="what runs the models: cpu (XNNPACK, the default), builtin or reference kernels",
    )
    parser.add_argument(
        "--no-born-here",
        dest="born_here",
        action="store_false",
        help="do not run operators alone: quicker, and says less about where errors arise",
    )
    parser.add_argument(
        "--top", type=int, default=3, metavar="N", help="how many layers to show (3; -v shows all)"
    )
    group = parser.add_argument_group("more files")
    group.add_argument("--csv", metavar="FILE", help="layer statistics as TensorFlow's debugger writes them")
    group.add_argument("--node-data", metavar="FILE", help="an overlay for Model Explorer")
    group.add_argument("--plot", metavar="FILE", help="a picture of the layers, .svg or .png")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Compare and report; the exit code says what it came to."""
    need_a_file(args)
    for output in (args.output, args.csv, args.node_data, args.plot):
        refuse_to_overwrite(output, [args.reference, args.candidate])
    try:
        if args.plot:
            check_plot(args.plot)
        with progress("comparing") as tell:
            drift = verbs.compare(
                args.reference,
                args.candidate,
                args.samples,
                layers=args.layers,
                memory=args.memory,
                accelerator=args.accelerator,
                born_here=args.born_here,
                tell=lambda turn, turns, sample: tell(
                    f"sample {sample}" + (f", turn {turn} of {turns}" if turns > 1 else "")
                ),
            )
    except (OutliveError, ValueError, OSError) as error:
        return tell_failure(args, error)
    _write_more(args, drift)
    return present(args, replace(drift, top=args.top))


def _write_more(args: argparse.Namespace, drift: Any) -> None:
    from outlive.rendering.drift_plot import plot_drift
    from outlive.rendering.drift_tables import drift_csv, drift_node_data
    from outlive.rendering.media.overlay import graph_name

    if args.csv:
        write_file(args.csv, drift_csv(drift.tensors))
    if args.node_data:
        write_file(args.node_data, dump(drift_node_data(drift, graph_name(drift.source))) + "\n")
    if args.plot:
        with writing(args.plot):
            plot_drift(drift, args.plot)
