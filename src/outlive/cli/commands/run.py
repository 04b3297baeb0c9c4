"""`outlive run`: run a model in a process that may die, and say what happened."""

from __future__ import annotations

import argparse
import warnings

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import complain, words_of
from outlive.cli.present import add_output_options, need_a_file, present, present_refusal
from outlive.cli.run_options import add_run_options, add_sandbox_option, options_for
from outlive.errors import LimitReached, OutliveError
from outlive.verbs.run import RUNTIMES, AcceleratorWarning, with_plan

EXAMPLES = """\
examples:
  outlive run model.tflite                              seeded random inputs in the model's own range
  outlive run model.tflite --input image=photo.npy --save outputs.npz
  outlive run model.tflite --input scaled.npy --quantize --dequantize   real numbers in and out
  outlive run model.tflite --input zeros --repeat 20 --accelerator builtin
  outlive run model.tflite --delegate libnpu.so,power=low   does it take all of the model?
  outlive run model.tflite --watch-outputs              are all outputs really written?
  outlive run model.tflite --accelerator auto           the first of gpu, cpu, builtin that is fit for it
  outlive run model.tflite --memory 512MB --seconds 30  end it if it takes more
  outlive run model.tflite --format trace --output run.json    to look at in ui.perfetto.dev
exit codes: 0 it ran, 1 the runtime refused it or an error was found, 3 it died or was ended at a limit, 4 it
cannot fit the limit and was not started
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("file", metavar="FILE", help="a .tflite model")
    add_run_options(parser, "--input", compiled=True)
    add_sandbox_option(parser, None, "auto, or what OUTLIVE_SANDBOX says, has it for LiteRT on CPUs")
    parser.add_argument(
        "--force", action="store_true", help="start it even if the plan says that it cannot fit --memory"
    )
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="invoke N times (default 1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of random inputs (default 0)")
    parser.add_argument("--runtime", choices=RUNTIMES, default="litert")
    parser.add_argument("--python", metavar="PATH", help="run the worker under another Python")
    parser.add_argument(
        "--delegate",
        dest="delegates",
        action="append",
        default=[],
        metavar="LIBRARY[,KEY=VALUE...]",
        help="an accelerator's library with its options, loaded in the worker",
    )
    parser.add_argument(
        "--quantize", action="store_true", help="turn floats for quantized inputs into their integers"
    )
    parser.add_argument(
        "--dequantize", action="store_true", help="give quantized outputs as the real numbers they stand for"
    )
    parser.add_argument(
        "--watch-outputs",
        action="store_true",
        help="run it twice, in memory filled with different bytes, and say which outputs it never wrote",
    )
    parser.add_argument("--save", metavar="FILE.npz", help="save the outputs as arrays")
    add_output_options(parser, "html", "csv", "trace")


def run(args: argparse.Namespace) -> int:
    """Run the model and report; the exit code says how it ended."""
    need_a_file(args)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AcceleratorWarning)  # told below, in the words of this command
            flight = verbs.run(args.file, **options_for(verbs.run, args))
    except LimitReached as error:
        return present_refusal(args, "run", args.file, error, {"started": False, "died": False})
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except (ValueError, OSError) as error:
        complain(f"outlive run: {words_of(error, args.save)}")
        return exits.USAGE
    for name, why in flight.runtime.get("skipped", ()):
        complain(f"outlive run: {name} is not used: {why}")
    if args.format == "html":
        flight = with_plan(flight, args.accelerator, args.threads)
    return present(args, flight)
