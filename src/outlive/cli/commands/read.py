"""`outlive read`: what is in the file, without running it."""

from __future__ import annotations

import argparse
from contextlib import nullcontext

from outlive.cli import exits
from outlive.cli.output import MANY, complain, progress, refuse_to_overwrite
from outlive.cli.present import add_output_options, need_a_file, present

EXAMPLES = """\
examples:
  outlive read model.tflite              the summary, and what the model wastes
  outlive read model.tflite --ops        every operator with its options
  outlive read model.tflite --graph      one line per operator, in execution order
  outlive read model.tflite --sparsity   how many weights are zero, and what that is worth
  outlive read *.tflite                  one table for many files
  outlive read model.tflite --format json --output model.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a .tflite model")
    parser.add_argument("--ops", action="store_true", help="list every operator with its options")
    parser.add_argument("--tensors", action="store_true", help="list every tensor with its quantization")
    parser.add_argument("--graph", action="store_true", help="one line per operator, in execution order")
    parser.add_argument(
        "--tolerant",
        action="store_true",
        help="show as much of a broken file as can be read, not only what is wrong",
    )
    parser.add_argument(
        "--sparsity",
        action="store_true",
        help="how many weights are zero, and what that is worth: in the file, compressed, sparse, in RAM",
    )
    parser.add_argument(
        "--measure", action="store_true", help="with --sparsity: run the model in a worker, dense and sparse"
    )
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Read the files and show them; 1 if any has a finding of severity error."""
    from outlive.verbs.read import read_files

    refuse_to_overwrite(args.output, args.files)
    need_a_file(args)
    shown = [name for name in ("ops", "tensors", "graph") if getattr(args, name)]
    options = {name: getattr(args, name) for name in ("tolerant", "sparsity", "measure")}
    try:
        slow = args.sparsity or len(args.files) >= MANY
        with progress("reading") if slow else nullcontext(lambda _: None) as tell:
            found = read_files(args.files, shown=shown, tell=tell, **options)
    except ValueError as error:
        complain(f"outlive read: {error}")
        return exits.USAGE
    return present(args, found)
