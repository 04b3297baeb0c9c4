"""`outlive devices`: boards, phones and microcontrollers known by name."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_output_options
from outlive.cli.present import check_output, present
from outlive.verbs.devices import devices

EXAMPLES = """\
Examples:
  outlive devices                        names, memory and data sheets
  outlive devices --format json          for programs

`outlive plan MODEL --device NAME` says whether a model fits a device. `outlive help device-files` says how
to add your own.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """List them."""
    check_output(args)
    return present(args, devices())
