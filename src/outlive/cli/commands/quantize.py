"""`outlive quantize`: a smaller model of a float one, made in a worker."""

from __future__ import annotations

import argparse
from dataclasses import replace

from outlive.cli.arguments import add_telling_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_model_output, tell
from outlive.cli.terminal import sample_step, write_file
from outlive.verbs.quantize import quantize, recipe_names

EXAMPLES = """\
Examples:
  outlive quantize healthy.tflite -o int8.tflite                               dynamic-int8 needs no samples
  outlive quantize healthy.tflite -o int8.tflite --recipe static-int8 --samples images/
  outlive quantize healthy.tflite -o int8.tflite --recipe static-int8 --samples images/ --io int8
  outlive quantize healthy.tflite -o mixed.tflite --recipe static-int8 --samples images/ --skip SOFTMAX
  outlive quantize float.tflite -o small.tflite --recipe weight-only-int4 --only FULLY_CONNECTED
  outlive quantize float.tflite -o custom.tflite --recipe recipe.json

Exit codes: 0 quantized, 1 findings of severity error (such as a model that stayed float), or the model or the
samples were refused, 2 usage, 3 the worker died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "model", "a float .tflite model", metavar="MODEL")
    option(parser, "-o", "--output", "write the quantized model to FILE", required=True, metavar="FILE")
    words = f"{', '.join(recipe_names())}, or a recipe file of ai-edge-quantizer (default dynamic-int8)"
    option(parser, "--recipe", words, default="dynamic-int8", metavar="NAME|FILE.json")
    option(parser, "--samples", "samples for static recipes: an .npz or .npy file, or a folder")
    chosen = parser.add_argument_group("Operators, by type, index, name or pattern")
    which = {"nargs": "+", "action": "extend", "default": [], "metavar": "WHICH"}
    option(chosen, "--skip", "keep these operators in float", **which)
    option(chosen, "--only", "quantize only these operators", **which)
    option(
        parser,
        "--io",
        "the type of inputs and outputs (default float)",
        choices=("float", "int8"),
        default="float",
    )
    target = parser.add_argument_group("Accuracy target (the worst layers stay float)")
    option(target, "--until-sqnr", "the least signal-to-noise ratio of all outputs", metavar="DB")
    option(
        target,
        "--until-agreement",
        "the least share of samples with the same top-1, such as 0.99",
        type=float,
        metavar="SHARE",
    )
    option(parser, "--memory", "the most memory that the worker may use")
    option(parser, "--seconds")
    option(parser, "--list", "list the result for every operator")
    add_telling_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Quantize, write and report; the exit code says what it came to."""
    check_model_output(args, args.model)
    with asking(args, "quantizing") as hear:
        made = quantize(
            args.model, **options_for(quantize, args), tell=lambda sample: hear(sample_step(sample))
        )
    write_file(args.output, made.model)
    args.verbose = max(args.verbose, int(args.list))
    return tell(args, replace(made, output_path=args.output))
