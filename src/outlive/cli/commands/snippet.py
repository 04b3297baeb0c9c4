"""`outlive snippet`: the code that feeds and reads a model correctly."""

from __future__ import annotations

import argparse

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import complain, refuse_to_overwrite, write_plain
from outlive.cli.present import present
from outlive.errors import OutliveError

EXAMPLES = """\
examples:
  outlive snippet model.tflite                                     Python
  outlive snippet model.tflite --lang c++ --output run_model.cc
  outlive snippet model.tflite --lang java --output MyModel.java
  outlive snippet model.tflite --signature encode                  one of several signatures
  outlive snippet model.tflite --runtime outlive                   an interpreter that cannot kill yours
exit codes: 0 written, 1 the file is broken, 2 usage, or a type that the language cannot feed
"""
_LANGUAGES = ("python", "c++", "c", "java")
_RUNTIMES = ("litert", "outlive", "tensorflow", "tflite_runtime")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("file", metavar="MODEL", help="a .tflite model")
    parser.add_argument("--lang", choices=_LANGUAGES, default="python", help="the language (default python)")
    parser.add_argument("--signature", metavar="KEY", help="the signature to call, where there are several")
    parser.add_argument(
        "--runtime", choices=_RUNTIMES, default="litert", help="Python: whose Interpreter (default litert)"
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--format", choices=("text", "json"), default="text", help="text is the code alone (default)"
    )
    output.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")


def run(args: argparse.Namespace) -> int:
    """Read the model and write the code."""
    try:
        refuse_to_overwrite(args.output, [args.file])
        made = verbs.snippet(args.file, lang=args.lang, signature=args.signature, runtime=args.runtime)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except (ValueError, OSError) as error:
        complain(f"outlive snippet: {error}")
        return exits.USAGE
    if args.format == "json":
        return present(args, made)
    write_plain(args, made.text)
    return exits.CLEAN
