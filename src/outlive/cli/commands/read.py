"""`outlive read`: what is in the file, without running it."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.present import check_output, present
from outlive.cli.terminal import complain, progress

EXAMPLES = """\
Examples:
  outlive read healthy.tflite              a summary, and what the model wastes
  outlive read healthy.tflite --ops        every operator with its options
  outlive read healthy.tflite --graph      one line for each operator, in execution order
  outlive read healthy.tflite --sparsity   the share of zero weights, and what it is worth
  outlive read healthy.tflite deadly.tflite   one table for several files
  outlive read healthy.tflite --format json -o model.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "files", ".tflite models", nargs="+", metavar="FILE")
    option(parser, "--ops", "list every operator with its options")
    option(parser, "--tensors", "list every tensor with its quantization")
    option(parser, "--graph", "show one line for each operator, in execution order")
    option(parser, "--tolerant", "show the readable parts of a broken file too")
    words = "count zero weights, and show what they are worth in the file, compressed, sparse and in RAM"
    option(parser, "--sparsity", words)
    option(parser, "--measure", "with --sparsity: run the model in a worker, dense and sparse")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Read the files and show them; 1 if any has a finding of severity error."""
    from outlive.verbs.read import read_files

    check_output(args, *args.files)
    shown = [name for name in ("ops", "tensors", "graph") if getattr(args, name)]
    try:
        with progress(args, "reading") as tell:
            found = read_files(args.files, shown=shown, **options_for(read_files, args), tell=tell)
    except ValueError as error:
        complain(f"outlive read: {error}")
        return exits.USAGE
    return present(args, found)
