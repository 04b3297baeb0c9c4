"""`outlive run`: run a model in a process that may die, and say what happened."""

from __future__ import annotations

import argparse
import warnings

from outlive.cli.arguments import (
    KERNELS_OF_CPU,
    add_output_options,
    add_run_options,
    add_sandbox_option,
    option,
    options_for,
)
from outlive.cli.failures import refusing
from outlive.cli.present import check_output, present, present_refusal
from outlive.cli.terminal import complain
from outlive.errors import LimitReached
from outlive.verbs.choices import RUNTIMES
from outlive.verbs.run import AcceleratorWarning, with_plan
from outlive.verbs.run import run as run_model

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
    option(parser, "file", "a .tflite model", metavar="FILE")
    add_run_options(parser, "--input")
    words = (
        "cpu is XNNPACK, builtin LiteRT's own kernels, reference the plain ones, gpu the GPU, npu an NPU "
        "through OpenVINO, auto the first that is fit for the model, stepping down when one dies"
    )
    option(parser, "--accelerator", words, choices=(*KERNELS_OF_CPU, "gpu", "npu", "auto"))
    option(parser, "--threads")
    add_sandbox_option(parser, None, "auto, or what OUTLIVE_SANDBOX says, has it for LiteRT on CPUs")
    option(parser, "--force", "start it even if the plan says that it cannot fit --memory")
    option(parser, "--repeat", "invoke N times (default 1)", default=1, metavar="N")
    option(parser, "--seed")
    option(parser, "--runtime", choices=RUNTIMES)
    option(parser, "--python", "run the worker under another Python", metavar="PATH")
    words = "an accelerator's library with its options, loaded in the worker"
    option(parser, "--delegate", words, dest="delegates", several=True, metavar="LIBRARY[,KEY=VALUE...]")
    option(parser, "--quantize", "turn floats for quantized inputs into their integers")
    option(parser, "--dequantize", "give quantized outputs as the real numbers they stand for")
    words = "run it twice, in memory filled with different bytes, and say which outputs it never wrote"
    option(parser, "--watch-outputs", words)
    option(parser, "--save", "save the outputs as arrays", metavar="FILE.npz")
    add_output_options(parser, "html", "csv", "trace")


def run(args: argparse.Namespace) -> int:
    """Run the model and report; the exit code says how it ended."""
    check_output(args)
    with refusing(args, args.save), warnings.catch_warnings():
        warnings.simplefilter("ignore", AcceleratorWarning)  # shown below, in the words of this command
        try:
            flight = run_model(args.file, **options_for(run_model, args))
        except LimitReached as error:
            return present_refusal(args, "run", args.file, error, {"started": False, "died": False})
    for name, why in flight.runtime.get("skipped", ()):
        complain(f"outlive run: {name} is not used: {why}")
    if args.format == "html":
        flight = with_plan(flight, args.accelerator, args.threads)
    return present(args, flight)
