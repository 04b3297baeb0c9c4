"""`outlive quantize`: a smaller model of a float one, made in a worker."""

from __future__ import annotations

import argparse
from dataclasses import replace

from outlive.cli.arguments import add_telling_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_model_output, tell
from outlive.cli.terminal import write_file
from outlive.verbs.quantize import quantize, recipe_names

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
    option(parser, "model", "a float .tflite model", metavar="MODEL")
    option(parser, "-o", "--output", "where to write the quantized model", required=True, metavar="FILE")
    words = f"{', '.join(recipe_names())}, or a recipe of ai-edge-quantizer (default dynamic-int8)"
    option(parser, "--recipe", words, default="dynamic-int8", metavar="NAME|FILE.json")
    option(parser, "--samples", "for static recipes: an .npz or .npy file, or a folder")
    chosen = parser.add_argument_group("which operators (types, indices, names or patterns of names)")
    which = {"nargs": "+", "action": "extend", "default": [], "metavar": "WHICH"}
    option(chosen, "--skip", "leave these float", **which)
    option(chosen, "--only", "only these", **which)
    option(parser, "--io", "inputs and outputs (default float)", choices=("float", "int8"), default="float")
    target = parser.add_argument_group("how good it has to be (the worst layers stay float until it is)")
    option(target, "--until-sqnr", "signal to noise of all outputs", metavar="DB")
    option(target, "--until-agreement", "same winner, such as 0.99", type=float, metavar="SHARE")
    option(parser, "--memory", "what the worker may use")
    option(parser, "--seconds")
    option(parser, "--list", "say what became of every operator")
    add_telling_options(parser)


def run(args: argparse.Namespace) -> int:
    """Quantize, write and report; the exit code says what it came to."""
    check_model_output(args, args.model)
    with asking(args, "quantizing") as hear:
        made = quantize(
            args.model, **options_for(quantize, args), tell=lambda sample: hear(f"sample {sample}")
        )
    write_file(args.output, made.model)
    args.verbose = max(args.verbose, int(args.list))
    return tell(args, replace(made, output_path=args.output))
