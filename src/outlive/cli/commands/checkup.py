"""`outlive MODEL`: the whole check-up on one screen: read, plan, check, run, and diagnose if needed."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.cli import exits
from outlive.cli.arguments import add_output_options
from outlive.cli.parser import Parser
from outlive.cli.present import check_output, present
from outlive.cli.terminal import complain, progress
from outlive.errors import OutliveError
from outlive.verbs.report import checkup

_OPTIONS = ("--format", "--output", "-o", "--open", "--verbose", "-v", "-vv", "--quiet", "-q")


def is_checkup(words: Sequence[str]) -> bool:
    """True for one file and nothing that only `outlive read` knows."""
    options = {word.split("=")[0] for word in words[1:] if word.startswith("-")}
    values = [word for at, word in enumerate(words[1:]) if not word.startswith("-") and not _value(words, at)]
    return options <= set(_OPTIONS) and not values


def _value(words: Sequence[str], at: int) -> bool:
    return words[at] in ("--format", "--output", "-o")


def run(words: Sequence[str]) -> int:
    """Do the check-up and report."""
    parser = Parser(prog="outlive")
    parser.add_argument("file", metavar="MODEL")
    add_output_options(parser, "html")
    args = parser.parse_args(list(words))
    check_output(args, args.file)
    try:
        with progress(args) as tell:
            found = checkup(args.file, tell)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    return present(args, found)
