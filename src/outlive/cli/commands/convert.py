"""`outlive convert`: a .tflite file of a TensorFlow or Keras model, made in a worker."""

from __future__ import annotations

import argparse
from dataclasses import replace

from outlive.cli import exits
from outlive.cli.arguments import add_telling_options, option, options_for
from outlive.cli.failures import asking, tell_failure
from outlive.cli.present import check_model_output, tell
from outlive.cli.terminal import complain_lines, write_file
from outlive.verbs.convert import convert

EXAMPLES = """\
Examples:
  outlive convert model.keras -o model.tflite
  outlive convert saved_model/ -o model.tflite --setting optimizations=DEFAULT
  outlive convert model.keras -o int8.tflite --samples images/ --setting supported_ops=TFLITE_BUILTINS_INT8
  outlive convert build.py::make_model -o model.tflite      a function that returns a Keras model
  outlive convert steps.py::scale -o scale.tflite --signature 1x4:float32   a function of tensors

A setting is one of tf.lite.TFLiteConverter or of its target_spec. Separate the items of a list with commas.

Exit codes: 0 converted, 1 findings of severity error (such as a float result where you asked for int8), or
the converter, the samples or your function failed, 2 usage, 3 the worker died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    words = "a SavedModel folder, a .keras or .h5 file, or FILE.py::FUNCTION"
    option(parser, "source", words, metavar="SOURCE")
    option(parser, "-o", "--output", "write the model to FILE", required=True, metavar="FILE")
    words = "samples for quantization: an .npz or .npy file, or a folder of .npy, .npz and image files"
    option(parser, "--samples", words)
    words = "the arguments of the function, such as 1x4:float32; ? stands for any size"
    option(parser, "--signature", words, nargs="+", action="extend", metavar="SHAPE:TYPE")
    words = "a setting of the converter, such as optimizations=DEFAULT (repeatable)"
    option(parser, "--setting", words, several=True, metavar="NAME=VALUE")
    option(parser, "--memory", "the most memory that the worker may use")
    option(parser, "--seconds")
    add_telling_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Convert, write and report; the exit code says what it came to."""
    check_model_output(args, args.source.partition("::")[0])
    try:
        with asking(args, "converting") as hear:
            options = {**options_for(convert, args), **dict(map(_setting, args.setting))}
            made = convert(**options, tell=hear)
    except TypeError as error:
        return tell_failure(args, error)
    except Exception as error:
        trace = getattr(error.__cause__, "text", "")  # of a function of the user's, in the worker
        if not trace:
            raise
        complain_lines(trace.rstrip())
        return exits.FINDINGS
    write_file(args.output, made.model)
    return tell(args, replace(made, output_path=args.output))


def _setting(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name.isidentifier():
        raise ValueError(f"{word[:60]!r} is not a setting; write it as optimizations=DEFAULT")
    return name, value
