"""`outlive explain`: what a finding means and what to do about it."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option
from outlive.cli.present import present
from outlive.cli.terminal import complain, write_text
from outlive.verbs.explain import explain

EXAMPLES = """\
examples:
  outlive explain                        every code with its headline
  outlive explain F110                   the page of one
  outlive explain duplicate-buffers      the same by name
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "codes", "a code such as F110, or a name", nargs="*", metavar="CODE")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Show the pages asked for, or the whole catalogue."""
    try:
        found = explain(*args.codes)
    except LookupError as error:
        complain(f"outlive explain: {error.args[0]}")
        return exits.USAGE
    if args.format == "text":
        write_text(args, [found])
        return exits.CLEAN
    return present(args, found)
