"""`outlive doctor`: what this machine offers, what is missing, and the command that fixes it."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_output_options, option
from outlive.cli.present import present
from outlive.cli.terminal import progress
from outlive.verbs.doctor import doctor

EXAMPLES = """\
Examples:
  outlive doctor                         runtimes, memory, limits, isolation, accelerators
  outlive doctor --format json           for programs
  outlive doctor --clean                 empty the caches first

Exit codes: 0 models can run here, 1 they cannot: no runtime is installed, or no process can start
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    words = "first remove the caches, and temporary files and cgroups of killed programs"
    option(parser, "--clean", words)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Look, try, and tell; 1 if something is missing without which no model can be run."""
    with progress(args, "trying what works here"):
        found = doctor(clean=args.clean)
    return present(args, found)
