"""`outlive leak`: what grows when a model or a function is repeated."""

from __future__ import annotations

import argparse
from typing import Any

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_output, present
from outlive.cli.terminal import complain, complain_lines, writing
from outlive.errors import OutliveError
from outlive.units import Step
from outlive.verbs.choices import RUNTIMES
from outlive.verbs.leak import leak, traceback_of

_CYCLES = ("load", "invoke", "resize")
EXAMPLES = """\
Examples:
  outlive leak healthy.tflite --cycle invoke --repeat 300   300 calls
  outlive leak healthy.tflite                          load, invoke and resize, until the verdict is clear
  outlive leak train.py::step                          a function of a script, called without arguments
  outlive leak train.py::step --repeat 25 --ram 2GB    when would 2 GB be full?
  outlive leak convert.py::step --seconds 600 --plot growth.svg

The standard output of a function is not shown.

Exit codes: 0 no leak found, 1 it leaks, 2 usage, 3 it died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "target", "the model or function to repeat", metavar="MODEL|SCRIPT.py::FUNCTION")
    words = "the part of a model's life to repeat (default all, each in its own worker)"
    option(parser, "--cycle", words, choices=(*_CYCLES, "all"), default="all")
    option(parser, "--repeat", "repeat N times (default: until the verdict is clear)", metavar="N")
    option(parser, "--seconds", "the most seconds for each cycle (default 120)", default=120.0)
    size = parser.add_mutually_exclusive_group()
    words = "estimate when this memory is full, such as 2GB"
    option(size, "--ram", "--limit", words, dest="ram", metavar="SIZE")
    option(size, "--device", "estimate when the memory of a device is full")
    option(parser, "--memory", "the most memory that the worker may add")
    option(parser, "--accelerator")
    option(parser, "--threads")
    option(parser, "--runtime", choices=RUNTIMES)
    option(parser, "--plot", "draw the curves as .svg or .png", metavar="FILE")
    add_output_options(parser, "html")


def _step(args: argparse.Namespace, cycle: str, stage: Any) -> str:
    """Which cycle of how many, and its rounds; without --repeat they end once the verdict is clear."""
    cycles = _CYCLES if args.cycle == "all" and cycle in _CYCLES else (cycle,)
    at = cycles.index(cycle)
    which = f"{cycle} ({at + 1} of {len(cycles)})" if len(cycles) > 1 else cycle
    if args.repeat is not None:
        return Step(f"{which}: {stage}", at * args.repeat + stage.calls, len(cycles) * args.repeat)
    return f"{which}: {stage.calls:,} rounds, {stage.verdict}; at most {args.seconds:g} s"


def run(args: argparse.Namespace) -> int:
    """Repeat, and report; the exit code says what came of it."""
    from outlive.rendering.picture import check_plot, plot

    check_output(args, args.target.partition("::")[0])
    with asking(args, "repeating") as tell:
        if args.plot:
            check_plot(args.plot)
        try:
            growth = leak(
                args.target,
                **options_for(leak, args),
                tell=lambda cycle, stage: tell(_step(args, cycle, stage)),
            )
        except OutliveError:
            raise
        except Exception as error:
            raised = traceback_of(error)  # what the function itself raised is shown as it would have shown it
            if not raised:
                raise
            complain_lines(raised.rstrip())
            complain("outlive leak: the function raised this in its first round")
            return exits.FINDINGS
    if args.plot:
        with writing(args.plot):
            plot(growth, args.plot)
    return present(args, growth)
