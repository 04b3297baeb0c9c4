"""`outlive export`: a model as source code for a microcontroller, with the arena it needs."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_micro_options, option, options_for
from outlive.cli.failures import refusing
from outlive.cli.present import tell
from outlive.cli.terminal import complain, writing
from outlive.verbs.export import export

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
    option(parser, "file")
    option(parser, "--tflm", "for TensorFlow Lite Micro (the one target there is; say it)")
    option(parser, "-o", "--output", "the folder to write to", metavar="DIR", required=True)
    option(parser, "--force", "replace files that are there already")
    option(parser, "--name", "the C++ namespace (default: from the file's name)", metavar="NAME")
    option(parser, "--trim", "leave out what the model does not use; results stay the same")
    micro = parser.add_argument_group("the arena")
    option(micro, "--device", "a microcontroller by name, or a .toml file of one")
    add_micro_options(micro)
    words = "added to the plan: 10%% or 2KB (default 5%%, where the plan guessed 25%%, at least 256 bytes)"
    option(micro, "--margin", words, metavar="SHARE|SIZE")
    words = "how to tell what was written (default text)"
    option(parser, "--format", words, choices=("text", "json"), default="text")
    option(parser, "-v", "--verbose")


def run(args: argparse.Namespace) -> int:
    """Plan, judge, write and tell; nothing is written for a model that cannot run there."""
    with refusing(args), writing(args.output):
        made = export(args.file, **options_for(export, args))
    code = tell(args, made)
    if not made.files and args.format != "json":
        complain("outlive export: nothing was written")
    return code
