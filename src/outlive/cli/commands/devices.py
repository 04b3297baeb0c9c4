"""`outlive devices`: boards, phones and microcontrollers known by name."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_output_options
from outlive.cli.present import check_output, present
from outlive.verbs.devices import devices

EXAMPLES = """\
examples:
  outlive devices                                        their names, memory and documents
  outlive devices --format json
`outlive plan model.tflite --device NAME` says whether a model fits one.
Your own: a .toml file in ~/.config/outlive/devices, as docs/how-to/plan_memory.md describes.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """List them."""
    check_output(args)
    return present(args, devices())
