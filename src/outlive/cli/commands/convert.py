"""`outlive convert`: a .tflite file of a TensorFlow or Keras model, made in a worker."""

from __future__ import annotations

import argparse
from dataclasses import replace

from outlive import verbs
from outlive.cli import exits
from outlive.cli.failures import tell_failure
from outlive.cli.output import complain_lines, progress, refuse_to_overwrite, write_file
from outlive.cli.present import add_telling_options, need_a_pipe, present
from outlive.errors import OutliveError

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
    parser.add_argument(
        "source", metavar="SOURCE", help="a SavedModel folder, a .keras or .h5 file, or FILE.py::FUNCTION"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write the model")
    parser.add_argument(
        "--samples",
        metavar="WHERE",
        help="to quantize with: an .npz or .npy file, or a folder of .npy, .npz and picture files",
    )
    parser.add_argument(
        "--signature",
        nargs="+",
        action="extend",
        metavar="SHAPE:TYPE",
        help="the arguments of the function to convert, such as 1x4:float32; ? is any size",
    )
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the converter, such as optimizations=DEFAULT",
    )
    parser.add_argument("--memory", metavar="SIZE", help="what the worker may use")
    parser.add_argument("--seconds", type=float, metavar="S", help="how long it may take")
    add_telling_options(parser)


def run(args: argparse.Namespace) -> int:
    """Convert, write and report; the exit code says what it came to."""
    need_a_pipe(args)
    refuse_to_overwrite(args.output, [args.source.partition("::")[0]])
    try:
        with progress("converting") as tell:
            made = verbs.convert(
                args.source,
                samples=args.samples,
                signature=args.signature,
                memory=args.memory,
                seconds=args.seconds,
                tell=lambda sample: tell(f"sample {sample}"),
                **dict(map(_setting, args.setting)),
            )
    except (OutliveError, ValueError, TypeError, OSError) as error:
        return tell_failure(args, error)
    except Exception as error:
        trace = getattr(error.__cause__, "text", "")  # of a function of the user's, in the worker
        if not trace:
            raise
        complain_lines(trace.rstrip())
        return exits.FINDINGS
    write_file(args.output, made.model)
    made, args.output = replace(made, output_path=args.output), None  # the rest goes to standard output
    return present(args, made)


def _setting(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name.isidentifier():
        raise ValueError(f"{word[:60]!r} is no setting; write it as optimizations=DEFAULT")
    return name, value
