"""`outlive plan`: how much memory a model will need, part by part, before anything runs."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.arguments import add_micro_options, add_output_options, option, options_for
from outlive.cli.present import check_output, present, present_refusal
from outlive.cli.terminal import complain, progress, writing
from outlive.errors import ModelError
from outlive.rendering.picture import check_plot, plot
from outlive.verbs.choices import ACCELERATORS
from outlive.verbs.devices import devices
from outlive.verbs.plan import named_shapes, plan

EXAMPLES = """\
Examples:
  outlive plan healthy.tflite                              with XNNPACK, the default of LiteRT
  outlive plan too_big.tflite --ram 64MB                   does it fit?
  outlive plan healthy.tflite --device raspberry-pi-zero-2-w
  outlive plan healthy_int8.tflite --accelerator tflm --device raspberry-pi-pico
  outlive plan healthy.tflite --here                       does it fit this machine or container?
  outlive plan healthy.tflite --input image=1x96x96x3      another shape of an input
  outlive plan healthy.tflite --batch 8 --measure          compare the plan with a measured run
  outlive plan healthy.tflite --sweep batch=1,2,4          one table for several settings
  outlive plan healthy.tflite --compare builtin,cpu,cpu+weight-cache,tflm
  outlive plan healthy.tflite --format trace -o plan.json  open it in ui.perfetto.dev

Exit codes: 0 planned (and fits), 1 the file is broken or the runtime refuses the model, 2 usage, 4 the model
does not fit, or outlive cannot tell
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file", "a .tflite model", nargs="?", metavar="FILE")
    words = (
        "the kernels to plan for: cpu is XNNPACK (default), builtin and reference are those of LiteRT, tflm "
        "is TensorFlow Lite Micro"
    )
    option(parser, "--accelerator", words, choices=ACCELERATORS, default=None)
    option(parser, "--threads")
    option(parser, "--preserve-all-tensors", "keep every tensor until the end")
    option(parser, "--weight-cache", "keep the packed weights of XNNPACK in a mapped file")
    what_if = parser.add_argument_group("Other settings")
    words = "set the shape of an input, such as image=1x512x512x3 or image=photo.npy (repeatable)"
    option(what_if, "--input", words, several=True, metavar="NAME=SHAPE")
    option(what_if, "--batch")
    words = "plan several values of batch, threads or an input: batch=1,2,4 or image=224,320 (repeatable)"
    option(what_if, "--sweep", words, several=True, metavar="NAME=A,B,C")
    words = "plan several settings, such as builtin, cpu or cpu+weight-cache+threads=4"
    option(what_if, "--compare", words, default=(), metavar="A,B,C")
    option(what_if, "--measure", "run the model in a worker, and compare")
    fit = parser.add_argument_group("Memory budget")
    one = fit.add_mutually_exclusive_group()
    option(one, "--ram")
    option(one, "--device")
    option(one, "--here", "the memory that this machine or container has left")
    option(fit, "--devices", "list the devices and exit; see also `outlive devices`")
    add_micro_options(parser.add_argument_group("TensorFlow Lite Micro"))
    option(parser, "--plot", "draw live bytes and the arena as .svg or .png", metavar="FILE")
    add_output_options(parser, "html", "csv", "trace", "overlay")


def run(args: argparse.Namespace) -> int:
    """Plan, judge and show; the exit code says whether it fits."""
    try:
        if args.devices:
            return _list_devices(args)
        _check_arguments(args)
        with progress(args, "planning"):
            found = plan(args.file, inputs=named_shapes(args.input), **options_for(plan, args))
        if args.plot:
            with writing(args.plot):
                plot(found, args.plot)
    except ModelError as error:
        return present_refusal(args, "plan", args.file, error)
    except ValueError as error:
        complain(f"outlive plan: {error}")
        return exits.USAGE
    return present(args, found)


def _list_devices(args: argparse.Namespace) -> int:
    check_output(args)
    if args.format not in ("text", "json", "html"):
        raise ValueError(f"the list of devices has no --format {args.format}")
    return present(args, devices())


def _check_arguments(args: argparse.Namespace) -> None:
    """ValueError for what cannot be shown, before anything is planned."""
    check_output(args)
    if args.file is None:
        raise ValueError("name a model to plan")
    if (args.sweep or args.compare) and args.format in ("trace", "overlay"):
        raise ValueError(f"a sweep or comparison is a table: ask for --format csv, not {args.format}")
    check_output(args, args.file, beside=(args.plot,))
    if args.plot:
        check_plot(args.plot)
