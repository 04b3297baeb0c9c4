"""`outlive explain`: what a finding means and what to do about it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option
from outlive.cli.present import check_output, present
from outlive.cli.terminal import complain, write_text
from outlive.rendering.finding_text import Line, Wrapped
from outlive.verbs.explain import explain

EXAMPLES = """\
Examples:
  outlive explain F110                   explain one finding
  outlive explain duplicate-buffers      the same, by name
  outlive explain                        list every code with its headline
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "codes", "codes such as F110, or names", nargs="*", metavar="CODE")
    add_output_options(parser, "html")


def _lines(text: str) -> Iterator[Line]:
    """The lines of the pages; a paragraph is one, so that it wraps where the terminal ends."""
    for is_paragraph, group in groupby(text.splitlines(), lambda line: line.startswith("    ")):
        if is_paragraph:
            yield Line("    ", " ".join(line.strip() for line in group))
        else:
            yield from (Line("", line, hang=6) for line in group)


def run(args: argparse.Namespace) -> int:
    """Show the pages asked for, or the whole catalogue."""
    try:
        found = explain(*args.codes)
    except LookupError as error:
        complain(f"outlive explain: {error.args[0]}")
        return exits.USAGE
    check_output(args)
    if args.format == "text":
        write_text(args, [Wrapped(_lines(found))])
        return exits.CLEAN
    return present(args, found)
