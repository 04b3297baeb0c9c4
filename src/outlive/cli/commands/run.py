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
from outlive.cli.failures import asking
from outlive.cli.present import check_output, present, present_refusal
from outlive.cli.terminal import complain
from outlive.errors import LimitReached
from outlive.verbs.choices import RUNTIMES
from outlive.verbs.run import AcceleratorWarning, with_plan
from outlive.verbs.run import run as run_model

EXAMPLES = """\
Examples:
  outlive run healthy.tflite                              with random inputs in the range of the model
  outlive run healthy.tflite --repeat 20 --accelerator builtin
  outlive run healthy.tflite --input zeros --save outputs.npz
  outlive run healthy.tflite --memory 512MB --seconds 30  end it if it takes more
  outlive run deadly.tflite                               it dies; outlive survives and says why
  outlive run healthy.tflite --watch-outputs              does the model write all outputs?
  outlive run healthy.tflite --accelerator auto           the first of gpu, cpu, builtin that works
  outlive run healthy.tflite --format trace -o run.json   open it in ui.perfetto.dev
  outlive run model.tflite --input image=photo.npy --quantize --dequantize   real numbers in and out
  outlive run model.tflite --delegate libnpu.so,power=low   does it take the whole model?

Exit codes: 0 it ran, 1 the runtime refused it or an error was found, 3 it died or reached a limit, 4 it
cannot fit the limit and was not started
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file")
    add_run_options(parser, "--input")
    words = (
        "the kernels to use: cpu is XNNPACK (default), builtin and reference are those of LiteRT, gpu is the "
        "GPU, npu is an NPU through OpenVINO, auto is the first of them that works"
    )
    option(parser, "--accelerator", words, choices=(*KERNELS_OF_CPU, "gpu", "npu", "auto"))
    option(parser, "--threads")
    add_sandbox_option(parser, None, "default: OUTLIVE_SANDBOX, or auto: for LiteRT on CPUs")
    option(parser, "--force", "start the model even if the plan does not fit --memory")
    option(parser, "--repeat", "call the model N times (default 1)", default=1, metavar="N")
    option(parser, "--seed")
    option(parser, "--runtime", choices=RUNTIMES)
    option(parser, "--python", "run the worker with another Python", metavar="PATH")
    words = "load a delegate library with its options in the worker (repeatable)"
    option(parser, "--delegate", words, dest="delegates", several=True, metavar="LIBRARY[,KEY=VALUE...]")
    option(parser, "--quantize", "convert float values to the integers of quantized inputs")
    option(parser, "--dequantize", "convert quantized outputs to real numbers")
    words = "run it twice in memory with different contents, and name outputs that it never writes"
    option(parser, "--watch-outputs", words)
    option(parser, "--save", "save the outputs to an .npz file", metavar="FILE.npz")
    add_output_options(parser, "html", "csv", "trace")


def run(args: argparse.Namespace) -> int:
    """Run the model and report; the exit code says how it ended."""
    check_output(args)
    with asking(args, "running", args.save) as tell, warnings.catch_warnings():
        warnings.simplefilter("ignore", AcceleratorWarning)  # shown below, in the words of this command
        try:
            flight = run_model(args.file, **options_for(run_model, args), tell=tell)
        except LimitReached as error:
            return present_refusal(args, "run", args.file, error, {"started": False, "died": False})
    for name, why in flight.runtime.get("skipped", ()):
        complain(f"outlive run: {name} is not used: {why}")
    if args.format == "html":
        flight = with_plan(flight, args.accelerator, args.threads)
    return present(args, flight)
