"""`outlive snippet`: the code that feeds and reads a model correctly."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.arguments import option, options_for
from outlive.cli.failures import refusing
from outlive.cli.present import check_output, present
from outlive.cli.terminal import write_plain
from outlive.verbs.snippet import snippet

EXAMPLES = """\
examples:
  outlive snippet model.tflite                                     Python
  outlive snippet model.tflite --lang c++ --output run_model.cc
  outlive snippet model.tflite --lang java --output MyModel.java
  outlive snippet model.tflite --signature encode                  one of several signatures
  outlive snippet model.tflite --runtime outlive                   an interpreter that cannot kill yours
exit codes: 0 written, 1 the file is broken, 2 usage, or a type that the language cannot feed
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file")
    languages = ("python", "c++", "c", "java")
    option(parser, "--lang", "the language (default python)", choices=languages, default="python")
    option(parser, "--signature", "the signature to call, where there are several", metavar="KEY")
    runtimes = ("litert", "outlive", "tensorflow", "tflite_runtime")
    option(parser, "--runtime", "Python: whose Interpreter (default litert)", choices=runtimes)
    output = parser.add_argument_group("output")
    words = "text is the code alone (default)"
    option(output, "--format", words, choices=("text", "json"), default="text")
    option(output, "-o", "--output", "write to FILE instead of standard output", metavar="FILE")


def run(args: argparse.Namespace) -> int:
    """Read the model and write the code."""
    check_output(args, args.file)
    with refusing(args):
        made = snippet(args.file, **options_for(snippet, args))
    if args.format == "json":
        return present(args, made)
    write_plain(args, made.text)
    return exits.CLEAN
