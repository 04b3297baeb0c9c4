"""`outlive leak`: what grows when a model or a function is repeated."""

from __future__ import annotations

import argparse

from outlive.cli import exits
from outlive.cli.arguments import add_output_options, option, options_for
from outlive.cli.failures import asking
from outlive.cli.present import check_output, present
from outlive.cli.terminal import complain, complain_lines, writing
from outlive.errors import OutliveError
from outlive.names import safe
from outlive.verbs.choices import RUNTIMES
from outlive.verbs.leak import leak, traceback_of

EXAMPLES = """\
examples:
  outlive leak model.tflite                            load, invoke and resize, each again and again
  outlive leak model.tflite --cycle invoke --repeat 5000
  outlive leak train.py::step                          a function of a script, called without arguments
  outlive leak train.py::step --repeat 25 --ram 2GB    when would 2 GB be full?
  outlive leak convert.py::round --seconds 600 --plot growth.svg
Without --repeat it goes on until the verdict is clear, or the seconds are over. What a function prints to
standard output is not shown.
exit codes: 0 no leak found, 1 it leaks, 2 usage, 3 it died
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "target", "what to repeat", metavar="MODEL|SCRIPT.py::FUNCTION")
    words = "what to repeat of a model (default all, each in a worker of its own)"
    option(parser, "--cycle", words, choices=("load", "invoke", "resize", "all"), default="all")
    option(parser, "--repeat", "repeat exactly N times (default: until the verdict is clear)", metavar="N")
    option(parser, "--seconds", "most seconds for each cycle, and for one round (default 120)", default=120.0)
    size = parser.add_mutually_exclusive_group()
    words = "the memory that would be full one day, such as 2GB"
    option(size, "--ram", "--limit", words, dest="ram", metavar="SIZE")
    option(size, "--device", "the same, of a device that `outlive plan` knows")
    option(parser, "--memory", "most private memory the worker may add")
    option(parser, "--accelerator")
    option(parser, "--threads")
    option(parser, "--runtime", choices=RUNTIMES)
    option(parser, "--plot", "write the curves to an .svg or .png file", metavar="FILE")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Repeat, and report; the exit code says what came of it."""
    from outlive.rendering.picture import check_plot, plot

    check_output(args, args.target.partition("::")[0])
    with asking(args) as tell:
        if args.plot:
            check_plot(args.plot)
        try:
            growth = leak(
                args.target,
                **options_for(leak, args),
                tell=lambda cycle, stage: tell(safe(f"{cycle}: {stage}", 100)),
            )
        except OutliveError:
            raise
        except Exception as error:
            raised = traceback_of(error)  # what the function itself raised is shown as it would have shown it
            if not raised:
                raise
            complain_lines(raised.rstrip())
            complain("outlive leak: it raised this in its first round")
            return exits.FINDINGS
    if args.plot:
        with writing(args.plot):
            plot(growth, args.plot)
    return present(args, growth)
