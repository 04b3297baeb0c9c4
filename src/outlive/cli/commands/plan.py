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
examples:
  outlive plan model.tflite                              with XNNPACK, LiteRT's default
  outlive plan model.tflite --accelerator tflm --device raspberry-pi-pico
  outlive plan model.tflite --ram 64MB                   does it fit?
  outlive plan model.tflite --here                       does it fit in what this process may use?
  outlive plan model.tflite --input image=1x512x512x3    what if
  outlive plan model.tflite --batch 8 --measure          planned beside measured
  outlive plan model.tflite --sweep batch=1,2,4 --sweep image=224,320,512
  outlive plan model.tflite --compare builtin,cpu,cpu+weight-cache,tflm
  outlive plan --devices                                 boards, phones, microcontrollers
  outlive plan model.tflite --format trace --output plan.json    to look at in ui.perfetto.dev
exit codes: 0 planned (and fits), 1 the file is broken or the runtime refuses the model,
2 impossible shapes or names, 4 does not fit, or is not known to
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file", "a .tflite model", nargs="?", metavar="FILE")
    words = "cpu (default) is XNNPACK, builtin and reference are LiteRT's own kernels, tflm is Micro's"
    option(parser, "--accelerator", words, choices=ACCELERATORS, default=None)
    option(parser, "--threads")
    option(parser, "--preserve-all-tensors", "keep every tensor to the end")
    option(parser, "--weight-cache", "cpu: keep XNNPACK's packed weights in a mapped file")
    what_if = parser.add_argument_group("what if")
    words = (
        "another shape of an input, such as image=1x512x512x3 or image=photo.npy (may be given several times)"
    )
    option(what_if, "--input", words, several=True, metavar="NAME=SHAPE")
    option(what_if, "--batch")
    words = "one table over values of batch, threads or an input: batch=1,2,4 or image=224,320"
    option(what_if, "--sweep", words, several=True, metavar="NAME=A,B,C")
    words = "settings side by side: builtin,cpu,cpu+weight-cache,builtin+preserve-all-tensors+threads=4"
    option(what_if, "--compare", words, default=(), metavar="A,B,C")
    option(what_if, "--measure", "run it in a worker, and compare")
    fit = parser.add_argument_group("does it fit?")
    one = fit.add_mutually_exclusive_group()
    option(one, "--ram")
    option(one, "--device")
    option(one, "--here", "what this process may use: container, limits, RAM")
    option(fit, "--devices", "list the devices and exit")
    add_micro_options(parser.add_argument_group("TensorFlow Lite Micro"))
    option(parser, "--plot", "draw live bytes and the arena as .svg or .png", metavar="FILE")
    add_output_options(parser, "html", "csv", "trace", "overlay")


def run(args: argparse.Namespace) -> int:
    """Plan, judge and show; the exit code says whether it fits."""
    try:
        if args.devices:
            return _list_devices(args)
        _check_arguments(args)
        with progress("planning"):
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
        raise ValueError("name a model, or ask for --devices")
    if (args.sweep or args.compare) and args.format in ("trace", "overlay"):
        raise ValueError(f"a sweep or comparison is a table: ask for --format csv, not {args.format}")
    check_output(args, args.file, beside=(args.plot,))
    if args.plot:
        check_plot(args.plot)
