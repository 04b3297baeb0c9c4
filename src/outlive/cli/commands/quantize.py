"""`outlive quantize`: a smaller model of a float one, made in a worker."""

from __future__ import annotations

import argparse
from dataclasses import replace

from outlive import verbs
from outlive.cli import exits
from outlive.cli.failures import tell_failure
from outlive.cli.output import progress, refuse_to_overwrite, write_file, write_json, write_text
from outlive.errors import OutliveError
from outlive.finding import Severity
from outlive.quant.nouns import Quantized
from outlive.quant.recipes import RECIPES

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
        help=f"{', '.join(RECIPES)}, or a recipe of ai-edge-quantizer (default dynamic-int8)",
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
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to tell what was done (default text)"
    )


def run(args: argparse.Namespace) -> int:
    """Quantize, write and report; the exit code says what it came to."""
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
                until=_target(args),
                tell=lambda sample: tell(f"sample {sample}"),
            )
    except (OutliveError, ValueError, OSError) as error:
        return tell_failure(args, error)
    write_file(args.output, made.model)
    _report(args, made)
    return exits.FINDINGS if any(one.severity is Severity.ERROR for one in made.findings) else exits.CLEAN


def _target(args: argparse.Namespace) -> dict[str, float] | None:
    given = {"sqnr": args.until_sqnr, "agreement": args.until_agreement}
    return {name: value for name, value in given.items() if value is not None} or None


def _report(args: argparse.Namespace, made: Quantized) -> None:
    from outlive.rendering.media.json import document_of
    from outlive.rendering.quantize_text import quantize_text

    told = argparse.Namespace(output=None)  # the file is the model; what is said goes to standard output
    if args.format == "json":
        write_json(told, document_of(replace(made, source_path=args.model, output_path=args.output)))
    else:
        write_text(told, quantize_text(made, args.output, args.list))
