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
examples:
  outlive blackbox last                        the last death
  outlive blackbox list                        all that are kept, the newest first
  outlive blackbox show 20260301-101500-4242   one of them
  outlive blackbox clear                       remove them
  outlive blackbox off                         record nothing from now on; `on` undoes it
Recorded are kernels with `%load_ext outlive`. Records are private to you and hold the cell, memory and stack,
no outputs and no variables. exit code 1 if there is no such record
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "action", "what to do (default: last)", choices=ACTIONS, nargs="?", default="last")
    option(parser, "name", "the record to show, as `list` names it", nargs="?")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show, list or remove records, or switch recording on or off."""
    try:
        found = blackbox(args.action, args.name)
    except (ValueError, LookupError) as error:
        complain(f"outlive blackbox: {error.args[0]}")
        return exits.USAGE if isinstance(error, ValueError) else exits.FINDINGS
    if args.action in ("on", "off"):
        say(f"the black box is {args.action} for kernels that load outlive from now on")
    elif args.action == "clear":
        say(f"removed {plural(found.removed, 'record')}")
    elif found.deaths or (args.action == "list" and args.format == "json"):
        return present(args, found)
    elif args.action == "list":
        complain("no kernel has died while outlive was loaded in it")  # which is good news
    else:
        complain("outlive blackbox: there is no record: no kernel has died that was watched")
        return exits.FINDINGS
    return exits.CLEAN
