"""`outlive export`: a model as source code for a microcontroller, with the arena it needs."""

from __future__ import annotations

import argparse

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import complain, writing
from outlive.cli.present import present
from outlive.errors import OutliveError
from outlive.verbs.export import ABIS, KERNELS

EXAMPLES = """\
examples:
  outlive export model.tflite --tflm -o firmware/model
  outlive export model.tflite --tflm --device raspberry-pi-pico -o firmware/model
  outlive export model.tflite --tflm --kernels cmsis-nn --margin 10% -o firmware/model
  outlive export model.tflite --tflm --trim -o firmware/model        without what it does not use
exit codes: 0 written, 1 the file is broken or TensorFlow Lite Micro refuses the model (nothing is written),
2 usage, 4 does not fit the device (nothing is written)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("file", metavar="MODEL", help="a .tflite model")
    parser.add_argument(
        "--tflm", action="store_true", help="for TensorFlow Lite Micro (the one target there is; say it)"
    )
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to write to")
    parser.add_argument("--force", action="store_true", help="replace files that are there already")
    parser.add_argument("--name", metavar="NAME", help="the C++ namespace (default: from the file's name)")
    parser.add_argument(
        "--trim", action="store_true", help="leave out what the model does not use; results stay the same"
    )
    micro = parser.add_argument_group("the arena")
    micro.add_argument("--device", metavar="NAME", help="a microcontroller by name, or a .toml file of one")
    micro.add_argument("--word", type=int, choices=(32, 64), help="word size (default 32)")
    micro.add_argument("--abi", choices=ABIS, help="layout of structures (default cortex-m)")
    micro.add_argument(
        "--kernels", choices=KERNELS, help="which kernels it is built with (default reference)"
    )
    micro.add_argument(
        "--margin",
        metavar="SHARE|SIZE",
        help="added to the plan: 10%% or 2KB (default 5%%, where the plan guessed 25%%, at least 256 bytes)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="how to tell what was written (default text)",
    )
    parser.add_argument("-v", "--verbose", action="count", default=0, help="show more; -vv shows everything")


def run(args: argparse.Namespace) -> int:
    """Plan, judge, write and tell; nothing is written for a model that cannot run there."""
    try:
        with writing(args.output):
            made = verbs.export(
                args.file,
                args.output,
                tflm=args.tflm,
                force=args.force,
                name=args.name,
                trim=args.trim,
                device=args.device,
                word=args.word,
                abi=args.abi,
                kernels=args.kernels,
                margin=args.margin,
            )
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except ValueError as error:
        complain(f"outlive export: {error}")
        return exits.USAGE
    told = argparse.Namespace(format=args.format, output=None, verbose=args.verbose)
    code = present(told, made)
    if not made.files and args.format != "json":
        complain("outlive export: nothing was written")
    return code
