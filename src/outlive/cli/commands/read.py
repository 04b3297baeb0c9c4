"""`outlive read`: what is in the file, without running it."""

from __future__ import annotations

import argparse
from contextlib import nullcontext

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.present import check_output, present
from outlive.cli.terminal import complain, progress

EXAMPLES = """\
examples:
  outlive read model.tflite              the summary, and what the model wastes
  outlive read model.tflite --ops        every operator with its options
  outlive read model.tflite --graph      one line per operator, in execution order
  outlive read model.tflite --sparsity   how many weights are zero, and what that is worth
  outlive read *.tflite                  one table for many files
  outlive read model.tflite --format json --output model.json
"""
# Below this many files even a slow disk answers within a second.
_MANY = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "files", "a .tflite model", nargs="+", metavar="FILE")
    option(parser, "--ops", "list every operator with its options")
    option(parser, "--tensors", "list every tensor with its quantization")
    option(parser, "--graph", "one line per operator, in execution order")
    option(parser, "--tolerant", "show as much of a broken file as can be read, not only what is wrong")
    words = "how many weights are zero, and what that is worth: in the file, compressed, sparse, in RAM"
    option(parser, "--sparsity", words)
    option(parser, "--measure", "with --sparsity: run the model in a worker, dense and sparse")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Read the files and show them; 1 if any has a finding of severity error."""
    from outlive.verbs.read import read_files

    check_output(args, *args.files)
    shown = [name for name in ("ops", "tensors", "graph") if getattr(args, name)]
    slow = args.sparsity or len(args.files) >= _MANY
    try:
        with progress("reading") if slow else nullcontext(lambda _: None) as tell:
            found = read_files(args.files, shown=shown, **options_for(read_files, args), tell=tell)
    except ValueError as error:
        complain(f"outlive read: {error}")
        return exits.USAGE
    return present(args, found)
