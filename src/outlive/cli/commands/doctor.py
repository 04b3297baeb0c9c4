"""`outlive doctor`: what this machine offers, what is missing, and the command that fixes it."""

from __future__ import annotations

import argparse

from outlive.cli.arguments import add_output_options, option
from outlive.cli.present import present
from outlive.verbs.doctor import doctor

EXAMPLES = """\
examples:
  outlive doctor                         runtimes, memory, limits, isolation, accelerators
  outlive doctor --format json           the same for programs
  outlive doctor --clean                 empty the caches, and say what was removed
exit code 1 if models cannot be run here: no runtime is installed, or no process can be started
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    words = "first remove all that is kept between runs, and temporary files and cgroups of killed programs"
    option(parser, "--clean", words)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Look, try, and tell; 1 if something is missing without which no model can be run."""
    return present(args, doctor(clean=args.clean))
