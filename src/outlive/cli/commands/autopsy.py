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
examples:
  outlive autopsy dmesg.log                    was it killed for memory?
  outlive autopsy core.4242                    which signal, and the stack if gdb or pystack is installed
  outlive autopsy serial.log                   what a microcontroller printed
  outlive autopsy -                            what is piped or pasted in, such as the output of dmesg
  outlive autopsy crash.log --model m.tflite   compare the log with the model: sizes, operator, its file
exit codes: 0 something in it is known, 1 nothing is
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "file", "a log, a core file or a message; - is standard input", metavar="FILE")
    option(
        parser,
        "--model",
        "the model that was run; else the one that the log names, if it is there",
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
        return exits.USAGE
    return present(args, found)
