"""`outlive autopsy`: what a death outside outlive left behind, and what it means."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option
from outlive.cli.present import check_output, present
from outlive.cli.terminal import complain
from outlive.verbs.autopsy import autopsy

EXAMPLES = """\
Examples:
  outlive autopsy dmesg.log                         was a process killed for memory?
  outlive autopsy core.4242                         the signal, and the stack if gdb or pystack is installed
  outlive autopsy serial.log                        the messages of a microcontroller
  dmesg | outlive autopsy -                         read standard input
  outlive autopsy crash.log --model deadly.tflite   compare the log with the model

Exit codes: 0 outlive knows something in it, 1 it knows nothing
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(
        parser,
        "file",
        "a log or a core file; - reads standard input, such as a pasted message",
        metavar="FILE",
    )
    option(
        parser,
        "--model",
        "the model that ran (default: the one that the log names, if it exists)",
        metavar="FILE",
    )
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read what is left and say what it means."""
    check_output(args, args.file)
    try:
        remains = sys.stdin.buffer if args.file == "-" else Path(args.file)
        found = autopsy(remains, model=args.model)
    except OSError as error:
        complain(f"outlive autopsy: cannot read {args.file}: {error.strerror}")
        if " " in args.file:
            complain("Is it a message? Paste it into: outlive autopsy -")
        return exits.USAGE
    return present(args, found)
