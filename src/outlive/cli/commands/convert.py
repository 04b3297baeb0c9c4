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
settings are those of tf.lite.TFLiteConverter and of its target_spec; lists have commas between
examples:
  outlive convert model.keras -o model.tflite
  outlive convert saved_model/ -o model.tflite --setting optimizations=DEFAULT
  outlive convert model.keras -o int8.tflite --samples photos/ --setting supported_ops=TFLITE_BUILTINS_INT8
  outlive convert build.py::make_model -o model.tflite          a function that makes a Keras model
  outlive convert steps.py::scale -o scale.tflite --signature 1x4:float32          a function of tensors
exit codes: 0 converted, 1 findings of severity error (asked to quantize and got float), the converter refused
the model, the samples cannot be used or your function raised, 2 usage, 3 the worker died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    words = "a SavedModel folder, a .keras or .h5 file, or FILE.py::FUNCTION"
    option(parser, "source", words, metavar="SOURCE")
    option(parser, "-o", "--output", "where to write the model", required=True, metavar="FILE")
    words = "to quantize with: an .npz or .npy file, or a folder of .npy, .npz and picture files"
    option(parser, "--samples", words)
    words = "the arguments of the function to convert, such as 1x4:float32; ? is any size"
    option(parser, "--signature", words, nargs="+", action="extend", metavar="SHAPE:TYPE")
    words = "a setting of the converter, such as optimizations=DEFAULT"
    option(parser, "--setting", words, several=True, metavar="NAME=VALUE")
    option(parser, "--memory", "what the worker may use")
    option(parser, "--seconds")
    add_telling_options(parser)


def run(args: argparse.Namespace) -> int:
    """Convert, write and report; the exit code says what it came to."""
    check_model_output(args, args.source.partition("::")[0])
    try:
        with asking(args, "converting") as hear:
            options = {**options_for(convert, args), **dict(map(_setting, args.setting))}
            made = convert(**options, tell=lambda sample: hear(f"sample {sample}"))
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
        raise ValueError(f"{word[:60]!r} is no setting; write it as optimizations=DEFAULT")
    return name, value
