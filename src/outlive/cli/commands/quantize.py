"""`outlive quantize`: a smaller model of a float one, made in a worker."""

from __future__ import annotations

import argparse
from dataclasses import replace

from outlive import verbs
from outlive.cli.failures import tell_failure
from outlive.cli.output import progress, refuse_to_overwrite, write_file
from outlive.cli.present import add_telling_options, need_a_pipe, present
from outlive.errors import OutliveError
from outlive.verbs.quantize import recipe_names

EXAMPLES = """\
examples:
  outlive quantize float.tflite -o int8.tflite --recipe dynamic-int8
  outlive quantize float.tflite -o int8.tflite --recipe static-int8 --samples calibration.npz
  outlive quantize float.tflite -o int8.tflite --recipe static-int8 --samples photos/ --io int8
  outlive quantize float.tflite -o mixed.tflite --recipe static-int8 --samples a.npz --skip SOFTMAX 'head/*'
  outlive quantize float.tflite -o small.tflite --recipe weight-only-int4 --only FULLY_CONNECTED
  outlive quantize float.tflite -o custom.tflite --recipe recipe.json
exit codes: 0 quantized, 1 findings of severity error (nothing was quantized, the model was refused, samples
cannot be used), 2 usage, 3 the worker died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("model", metavar="MODEL", help="a float .tflite model")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="where to write the quantized model"
    )
    parser.add_argument(
        "--recipe",
        default="dynamic-int8",
        metavar="NAME|FILE.json",
        help=f"{', '.join(recipe_names())}, or a recipe of ai-edge-quantizer (default dynamic-int8)",
    )
    parser.add_argument(
        "--samples", metavar="WHERE", help="for static recipes: an .npz or .npy file, or a folder"
    )
    chosen = parser.add_argument_group("which operators (types, indices, names or patterns of names)")
    chosen.add_argument(
        "--skip", nargs="+", action="extend", default=[], metavar="WHICH", help="leave these float"
    )
    chosen.add_argument("--only", nargs="+", action="extend", default=[], metavar="WHICH", help="only these")
    parser.add_argument(
        "--io",
        choices=("float", "int8"),
        default="float",
        help="inputs and outputs (default float)",
    )
    target = parser.add_argument_group("how good it has to be (the worst layers stay float until it is)")
    target.add_argument("--until-sqnr", type=float, metavar="DB", help="signal to noise of all outputs")
    target.add_argument("--until-agreement", type=float, metavar="SHARE", help="same winner, such as 0.99")
    parser.add_argument("--memory", metavar="SIZE", help="what the worker may use")
    parser.add_argument("--seconds", type=float, metavar="S", help="how long it may take")
    parser.add_argument("--list", action="store_true", help="say what became of every operator")
    add_telling_options(parser)


def run(args: argparse.Namespace) -> int:
    """Quantize, write and report; the exit code says what it came to."""
    need_a_pipe(args)
    refuse_to_overwrite(args.output, [args.model])
    try:
        with progress("quantizing") as tell:
            made = verbs.quantize(
                args.model,
                args.recipe,
                args.samples,
                skip=args.skip,
                only=args.only,
                io=args.io,
                memory=args.memory,
                seconds=args.seconds,
                until_sqnr=args.until_sqnr,
                until_agreement=args.until_agreement,
                tell=lambda sample: tell(f"sample {sample}"),
            )
    except (OutliveError, ValueError, OSError) as error:
        return tell_failure(args, error)
    write_file(args.output, made.model)
    made, args.output = replace(made, output_path=args.output), None  # the rest goes to standard output
    args.verbose = max(args.verbose, int(args.list))
    return present(args, made)
