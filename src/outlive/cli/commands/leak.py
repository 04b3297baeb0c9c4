"""`outlive leak`: what grows when a model or a function is repeated."""

from __future__ import annotations

import argparse
from typing import Any

from outlive import verbs
from outlive.cli import exits
from outlive.cli.output import complain, complain_lines, progress, refuse_to_overwrite, writing
from outlive.cli.present import add_output_options, need_a_file, present
from outlive.cli.run_options import options_for
from outlive.errors import OutliveError
from outlive.names import safe
from outlive.verbs.leak import traceback_of
from outlive.verbs.run import RUNTIMES

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
    parser.add_argument("target", metavar="MODEL|SCRIPT.py::FUNCTION", help="what to repeat")
    parser.add_argument(
        "--cycle",
        choices=("load", "invoke", "resize", "all"),
        default="all",
        help="what to repeat of a model (default all, each in a worker of its own)",
    )
    parser.add_argument(
        "--repeat", type=int, metavar="N", help="repeat exactly N times (default: until the verdict is clear)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=120.0,
        metavar="S",
        help="most seconds for each cycle, and for one round (default 120)",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--ram",
        "--limit",
        dest="ram",
        metavar="SIZE",
        help="the memory that would be full one day, such as 2GB",
    )
    size.add_argument("--device", metavar="NAME", help="the same, of a device that `outlive plan` knows")
    parser.add_argument("--memory", metavar="SIZE", help="most private memory the worker may add")
    parser.add_argument(
        "--accelerator",
        choices=("cpu", "builtin", "reference"),
        default="cpu",
        help="cpu is XNNPACK, builtin LiteRT's own kernels, reference the plain ones",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="threads the model may use")
    parser.add_argument("--runtime", choices=RUNTIMES, default="litert")
    parser.add_argument("--plot", metavar="FILE", help="write the curves to an .svg or .png file")
    add_output_options(parser, "html")


def run(args: argparse.Namespace) -> int:
    """Repeat, and report; the exit code says what came of it."""
    from outlive.rendering.plan_plot import check_plot

    need_a_file(args)
    try:
        refuse_to_overwrite(args.output, [args.target.partition("::")[0]])
        if args.plot:
            check_plot(args.plot)
        with progress() as tell:
            growth = verbs.leak(
                args.target,
                **options_for(verbs.leak, args),
                tell=lambda cycle, stage: tell(safe(f"{cycle}: {stage}", 100)),
            )
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except Exception as error:
        return _failed(error)
    if args.plot:
        _plot(args.plot, growth)
    return present(args, growth)


def _failed(error: Exception) -> int:
    """What the function itself raised is shown as it would have shown it; what we refuse is usage."""
    raised = traceback_of(error)
    if raised:
        complain_lines(raised.rstrip())
        complain("outlive leak: it raised this in its first round")
        return exits.FINDINGS
    if not isinstance(error, (ValueError, OSError)):
        raise error
    complain(f"outlive leak: {error}")
    return exits.USAGE


def _plot(path: str, growth: Any) -> None:
    from outlive.rendering.leak_plot import draw_growth

    with writing(path):
        draw_growth(growth, path)
