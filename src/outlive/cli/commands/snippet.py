"""`outlive snippet`: the code that feeds and reads a model correctly."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.failures import refusing
from outlive.cli.present import check_output, present
from outlive.cli.terminal import write_plain
from outlive.verbs.snippet import snippet

EXAMPLES = """\
Examples:
  outlive snippet healthy.tflite                                     Python
  outlive snippet healthy.tflite --lang c++ --output run_model.cc
  outlive snippet healthy.tflite --lang java --output MyModel.java
  outlive snippet healthy.tflite --runtime outlive                   an interpreter that survives crashes
  outlive snippet model.tflite --signature encode                    one of several signatures

Exit codes: 0 written, 1 the file is broken, 2 usage, or the language has no such type
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file")
    languages = ("python", "c++", "c", "java")
    option(parser, "--lang", "the language (default python)", choices=languages, default="python")
    option(parser, "--signature", "the signature to call, if there are several", metavar="KEY")
    runtimes = ("litert", "outlive", "tensorflow", "tflite_runtime")
    option(
        parser, "--runtime", "the package of the Interpreter, for Python (default litert)", choices=runtimes
    )
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read the model and write the code."""
    check_output(args, args.file)
    with refusing(args):
        made = snippet(args.file, **options_for(snippet, args))
    if args.format == "json":
        return present(args, made)
    write_plain(args, made.text)
    return exits.CLEAN
