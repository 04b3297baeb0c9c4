"""`outlive export`: a model as source code for a microcontroller, with the arena it needs."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_micro_options, add_telling_options, option, options_for
from outlive.cli.failures import refusing
from outlive.cli.present import check_model_output, tell
from outlive.cli.terminal import complain, writing
from outlive.verbs.export import export

EXAMPLES = """\
Examples:
  outlive export healthy_int8.tflite -o firmware
  outlive export healthy_int8.tflite -o firmware --force --device arduino-nano-33-ble-sense
  outlive export healthy_int8.tflite -o firmware --force --kernels cmsis-nn --margin 10%
  outlive export wasteful.tflite -o small --trim        leave out what the model does not use

Exit codes: 0 written, 1 the file is broken or TensorFlow Lite Micro refuses the model, 2 usage, 4 the model
does not fit the device. Nothing is written for 1, 2 and 4.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file")
    option(parser, "--target", "the runtime to export for (default tflm)", choices=("tflm",), default="tflm")
    old = {"action": "store_const", "const": "tflm", "dest": "target", "default": "tflm"}
    option(parser, "--tflm", argparse.SUPPRESS, **old)
    option(parser, "-o", "--output", "write the files to this folder", metavar="DIR", required=True)
    option(parser, "--force", "replace existing files")
    option(parser, "--name", "the C++ namespace (default: the name of the file)", metavar="NAME")
    option(parser, "--trim", "leave out what the model does not use; results stay the same")
    micro = parser.add_argument_group("Arena")
    option(micro, "--device", "a microcontroller: a name, or a .toml file")
    add_micro_options(micro)
    words = (
        "add this to the planned arena, such as 10%% or 2KB (default: 5%%, or 25%% if the plan is an "
        "estimate, and at least 256 bytes)"
    )
    option(micro, "--margin", words, metavar="SHARE|SIZE")
    add_telling_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Plan, judge, write and tell; nothing is written for a model that cannot run there."""
    check_model_output(args)
    with refusing(args), writing(args.output):
        made = export(args.file, **options_for(export, args))
    code = tell(args, made)
    if not made.files and args.format != "json":
        complain("outlive export: no file was written")
    return code
