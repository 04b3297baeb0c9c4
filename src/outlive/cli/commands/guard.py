"""`outlive guard`: run a Python script in a process that may die, and say why it did."""

from __future__ import annotations

import argparse
import sys

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, add_sandbox_option, option, options_for
from outlive.cli.failures import tell_failure
from outlive.cli.present import present
from outlive.cli.terminal import writing
from outlive.rendering import page_of
from outlive.rendering.console import print_parts
from outlive.verbs.guard import guard

EXAMPLES = """\
Examples:
  outlive guard train.py --epochs 3                 arguments after the script belong to the script
  outlive guard --memory 2GB --seconds 600 convert.py model/
  outlive guard -m package.module input.txt         like python -m
  outlive guard --format json --output flight.json train.py

Exit codes: the exit code of the script if it ends by itself, 3 if it died or reached a limit, 2 usage,
130 interrupted
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "-m", "SCRIPT is a module, as in python -m", dest="as_module")
    option(parser, "--memory", "the most memory that the script may use, such as 2GB")
    option(parser, "--seconds", "the most seconds that the script may take")
    add_sandbox_option(parser, "off", "default off")
    add_output_options(parser)
    words = "a Python file, or a module with -m; the words after it go to the script"
    option(parser, "words", words, nargs=argparse.PARSER, metavar="SCRIPT")


def run(args: argparse.Namespace) -> int:
    """Run the script; the exit code is its own unless it died."""
    script, *words = args.words
    try:
        guarded = guard(script, **options_for(guard, args))
        _check_output(args)
        sys.stdout.flush()
        end = guarded(*words)
    except BrokenPipeError:
        raise
    except (ValueError, OSError) as error:
        return tell_failure(args, error)
    if args.format == "text" and args.output is None:
        from outlive.rendering.media.text import draw_text

        print_parts(draw_text(page_of(end), args.verbose), sys.stderr)  # standard output is the script's
    else:
        present(args, end)
    return exits.DIED if end.exit_code is None else end.exit_code


def _check_output(args: argparse.Namespace) -> None:
    """A file that cannot be written is better known before an hour of work than after it."""
    if args.output is None:
        return
    with writing(args.output), open(args.output, "a", encoding="utf-8"):
        pass
