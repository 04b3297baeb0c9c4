"""`outlive plan`: how much memory a model will need, part by part, before anything runs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from outlive.cli import exits
from outlive.cli.output import complain, progress, refuse_to_overwrite, writing
from outlive.cli.present import add_output_options, need_a_file, present, present_refusal
from outlive.errors import ModelError
from outlive.verbs.plan import ABIS, ACCELERATORS, KERNELS, named_shapes

if TYPE_CHECKING:
    from outlive.verbs.plan import Plan

# Options that the verb takes under the same name.
_PASSED = (
    "batch", "threads", "preserve_all_tensors", "weight_cache", "word", "abi", "kernels", "measure", "ram",
    "device", "here", "sweep", "compare",
)  # fmt: skip
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
    parser.add_argument("file", nargs="?", metavar="FILE", help="a .tflite model")
    parser.add_argument(
        "--accelerator",
        choices=ACCELERATORS,
        help="cpu (default) is XNNPACK, builtin and reference are LiteRT's own kernels, tflm is Micro's",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="threads the model may use")
    parser.add_argument("--preserve-all-tensors", action="store_true", help="keep every tensor to the end")
    parser.add_argument(
        "--weight-cache", action="store_true", help="cpu: keep XNNPACK's packed weights in a mapped file"
    )
    what_if = parser.add_argument_group("what if")
    what_if.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=SHAPE",
        help="another shape of an input, such as image=1x512x512x3 or image=photo.npy "
        "(may be given several times)",
    )
    what_if.add_argument("--batch", type=int, metavar="N", help="another first dimension of every input")
    what_if.add_argument(
        "--sweep",
        action="append",
        default=[],
        metavar="NAME=A,B,C",
        help="one table over values of batch, threads or an input: batch=1,2,4 or image=224,320",
    )
    what_if.add_argument(
        "--compare",
        default=(),
        metavar="A,B,C",
        help="settings side by side: builtin,cpu,cpu+weight-cache,builtin+preserve-all-tensors+threads=4",
    )
    what_if.add_argument("--measure", action="store_true", help="run it in a worker, and compare")
    _configure_fit(parser)
    parser.add_argument("--plot", metavar="FILE", help="draw live bytes and the arena as .svg or .png")
    add_output_options(parser, "html", "csv", "trace", "overlay")


def _configure_fit(parser: argparse.ArgumentParser) -> None:
    fit = parser.add_argument_group("does it fit?")
    one = fit.add_mutually_exclusive_group()
    one.add_argument("--ram", metavar="SIZE", help="memory granted to the model, such as 64MB")
    one.add_argument("--device", metavar="NAME", help="a device by name, or a .toml file that describes one")
    one.add_argument("--here", action="store_true", help="what this process may use: container, limits, RAM")
    fit.add_argument("--devices", action="store_true", help="list the devices and exit")
    micro = parser.add_argument_group("TensorFlow Lite Micro")
    micro.add_argument("--word", type=int, choices=(32, 64), help="word size (default 32)")
    micro.add_argument("--abi", choices=ABIS, help="layout of structures (default cortex-m)")
    micro.add_argument(
        "--kernels", choices=KERNELS, help="which kernels it is built with (default reference)"
    )


def run(args: argparse.Namespace) -> int:
    """Plan, judge and show; the exit code says whether it fits."""
    from outlive.verbs import plan

    try:
        if args.devices:
            return _list_devices(args)
        _check_arguments(args)
        with progress("planning"):
            found = plan(
                args.file,
                args.accelerator,
                inputs=named_shapes(args.input),
                **{name: getattr(args, name) for name in _PASSED},
            )
        _draw(args, found)
    except ModelError as error:
        return present_refusal(args, "plan", args.file, error)
    except ValueError as error:
        complain(f"outlive plan: {error}")
        return exits.USAGE
    return present(args, found)


def _list_devices(args: argparse.Namespace) -> int:
    from outlive.verbs import devices

    need_a_file(args)
    if args.format not in ("text", "json", "html"):
        raise ValueError(f"the list of devices has no --format {args.format}")
    return present(args, devices())


def _check_arguments(args: argparse.Namespace) -> None:
    """ValueError for what cannot be shown, before anything is planned."""
    need_a_file(args)
    if args.file is None:
        raise ValueError("name a model, or ask for --devices")
    if (args.sweep or args.compare) and args.format in ("trace", "overlay"):
        raise ValueError(f"a sweep or comparison is a table: ask for --format csv, not {args.format}")
    refuse_to_overwrite(args.output, [args.file])
    refuse_to_overwrite(args.plot, [args.file])
    if args.plot:
        from outlive.rendering.plan_plot import check_plot

        check_plot(args.plot)


def _draw(args: argparse.Namespace, found: Plan) -> None:
    if args.plot:
        from outlive.rendering.plan_plot import draw

        with writing(args.plot):
            draw(found, args.plot)
