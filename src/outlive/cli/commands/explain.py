"""`outlive explain`: what a finding means and what to do about it."""

from __future__ import annotations

import argparse

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import add_output_options, complain, write_json, write_text
from outlive.rendering.media.json import document_of
from outlive.rules.catalogue import RULES, find_rule
from outlive.rules.engine import RuleList

EXAMPLES = """\
examples:
  outlive explain                        every code with its headline
  outlive explain F110                   the page of one
  outlive explain duplicate-buffers      the same by name
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("codes", nargs="*", metavar="CODE", help="a code such as F110, or a name")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the pages asked for, or the whole catalogue."""
    try:
        pages = [verbs.explain(code) for code in args.codes]
    except LookupError as error:
        complain(f"outlive explain: {error.args[0]}")
        return exits.USAGE
    rules = [rule for code in args.codes if (rule := find_rule(code))] or list(RULES)
    if args.format == "json":
        write_json(args, document_of(RuleList(rules=tuple(rules))))
    elif pages:
        write_text(args, ["\n\n".join(pages)])
    else:
        write_text(args, [_catalogue()])
    return exits.CLEAN


def _catalogue() -> str:
    width = max(len(rule.name) for rule in RULES)
    return "\n".join(
        f"{rule.code}  {rule.severity.value:<7}  {rule.name:<{width}}  {rule.summary}" for rule in RULES
    )
