"""What ends a command before it is done: words for the user, and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import traceback

from outlive.cli import exits
from outlive.cli.output import OutputError, complain, complain_lines
from outlive.errors import LimitReached, ModelDied, ModelError, OutliveError, shortage


def tell_failure(args: argparse.Namespace, error: Exception) -> int:
    """Say what went wrong with a model, or with what was asked for; the exit code."""
    if not isinstance(error, OutliveError):
        complain(f"outlive {args.command}: {error}")
        return exits.USAGE
    complain(error)
    return exits.DIED if isinstance(error, (ModelDied, LimitReached)) else exits.FINDINGS


def exit_code_after(error: Exception) -> int:
    """Say what happened; the exit code."""
    if isinstance(error, BrokenPipeError):
        _silence_stdout()  # whoever reads our output has seen enough
        return exits.PIPE_CLOSED
    if isinstance(error, OutputError):
        complain(f"outlive: {error}")
        return exits.USAGE
    if isinstance(error, ModelError):  # the file has changed since it was read
        complain(error)
        return exits.FINDINGS
    if words := shortage(error):
        if isinstance(error, OSError):
            _silence_stdout()
        complain(f"outlive: {words}")
        return exits.USAGE
    complain_lines("".join(traceback.format_exception(error)).rstrip())
    complain("outlive: this is a bug of outlive, not of your model; please report it with the lines above")
    return exits.OUR_BUG


def _silence_stdout() -> None:
    """Point stdout elsewhere, or Python complains about it at exit."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
