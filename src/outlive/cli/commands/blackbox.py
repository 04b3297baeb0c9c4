"""`outlive blackbox`: why a kernel died, after the fact."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.output import add_output_options, complain, say, write_json, write_text

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
    actions = ("last", "list", "show", "clear", "on", "off")
    parser.add_argument(
        "action", choices=actions, nargs="?", default="last", help="what to do (default: last)"
    )
    parser.add_argument("name", nargs="?", help="the record to show, as `list` names it")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show, list or remove records, or switch recording on or off."""
    from outlive.kernel_deaths import shelf

    if (args.name is None) == (args.action == "show"):
        wanted = "needs the name of a record" if args.action == "show" else "takes no name"
        complain(f"outlive blackbox: {args.action} {wanted}; see `outlive blackbox list`")
        return exits.USAGE
    if args.action in ("on", "off"):
        shelf.switch(on=args.action == "on")
        say(f"the black box is {args.action} for kernels that load outlive from now on")
        return exits.CLEAN
    shelf.tidy()
    if args.action == "clear":
        count = shelf.clear()
        say(f"removed {count} record{'s' * (count != 1)}")
        return exits.CLEAN
    return _list(args) if args.action == "list" else _show(args)


def _list(args: argparse.Namespace) -> int:
    from outlive.kernel_deaths import shelf
    from outlive.rendering.blackbox_text import deaths_json, deaths_text
    from outlive.rendering.blackbox_verdict import judge_death
    from outlive.verbs.judging import JUDGE

    rows = [(record, judge_death(record, JUDGE)) for record in shelf.every()]
    if args.format == "json":
        write_json(args, deaths_json(rows))
    elif rows:
        write_text(args, deaths_text(rows))
    else:
        complain("no kernel has died while outlive was loaded in it")
    return exits.CLEAN  # that nobody died is good news


def _show(args: argparse.Namespace) -> int:
    from outlive.kernel_deaths import shelf
    from outlive.names import safe
    from outlive.rendering.blackbox_text import death_json, death_text
    from outlive.rendering.blackbox_verdict import judge_death
    from outlive.verbs.judging import JUDGE

    record = shelf.load(args.name) if args.name else next(shelf.every(), None)
    if record is None:
        what = f"there is no record {safe(args.name, 80)!r}" if args.name else "there is no record"
        complain(f"outlive blackbox: {what}: no kernel has died that was watched")
        return exits.FINDINGS
    finding = judge_death(record, JUDGE)
    if args.format == "json":
        write_json(args, death_json(record, finding))
    else:
        write_text(args, death_text(record, finding))
    return exits.CLEAN
