"""`outlive blackbox`: why a kernel died, after the fact."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option
from outlive.cli.present import present
from outlive.cli.terminal import complain, say
from outlive.units import plural
from outlive.verbs.blackbox import ACTIONS, blackbox

EXAMPLES = """\
Examples:
  outlive blackbox last                        show the last death
  outlive blackbox list                        list all records, the newest first
  outlive blackbox show 20260301-101500-4242   show one record
  outlive blackbox clear                       remove all records
  outlive blackbox off                         stop recording; `on` starts it again

Kernels are recorded after `%load_ext outlive`. A record is private to you. It holds the cell, the memory and
the stack, but no outputs and no variables.

Exit codes: 0 shown, 1 no such record
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(
        parser,
        "action",
        f"{', '.join(ACTIONS)} (default last)",
        choices=ACTIONS,
        metavar="ACTION",
        nargs="?",
        default="last",
    )
    option(parser, "name", "the record to show, by its name in `list`", nargs="?", metavar="NAME")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show, list or remove records, or switch recording on or off."""
    try:
        found = blackbox(args.action, args.name)
    except (ValueError, LookupError) as error:
        complain(f"outlive blackbox: {error.args[0]}")
        return exits.USAGE if isinstance(error, ValueError) else exits.FINDINGS
    if args.action in ("on", "off"):
        say(f"recording is {args.action} for kernels that load outlive from now on")
    elif args.action == "clear":
        say(f"removed {plural(found.removed, 'record')}")
    elif found.deaths or (args.action == "list" and args.format == "json"):
        return present(args, found)
    elif args.action == "list":
        complain("no kernel has died with outlive loaded")  # which is good news
    else:
        complain("outlive blackbox: no record, because no kernel has died with outlive loaded")
        return exits.FINDINGS
    return exits.CLEAN
