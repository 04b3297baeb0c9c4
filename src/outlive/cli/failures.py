"""What ends a command before it is done: words for the user, and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from outlive.cli import exits
from outlive.cli.terminal import OutputError, complain, complain_lines, progress
from outlive.errors import LimitReached, ModelDied, ModelError, OutliveError, shortage


class CommandFailed(Exception):
    """A command that ended before there was a result to present; what went wrong has been said."""

    def __init__(self, code: int) -> None:
        """Keep the exit code."""
        super().__init__(code)
        self.code = code


@contextmanager
def asking(args: argparse.Namespace, what: str = "", *outputs: str | None) -> Iterator[Callable[[str], None]]:
    """`refusing` with a line that says how far the verb is."""
    with refusing(args, *outputs), progress(args, what) as tell:
        yield tell


@contextmanager
def refusing(args: argparse.Namespace, *outputs: str | None) -> Iterator[None]:
    """The call of a verb: what it refuses ends the command. `outputs` are files that it writes."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OutliveError, ValueError, OSError) as error:
        raise CommandFailed(tell_failure(args, error, *outputs)) from error


def tell_failure(args: argparse.Namespace, error: Exception, *outputs: str | None) -> int:
    """Say what went wrong with a model, or with what was asked for; the exit code."""
    if isinstance(error, OutliveError):
        complain(error)
        return exits.DIED if isinstance(error, (ModelDied, LimitReached)) else exits.FINDINGS
    words, named = str(error), str(getattr(error, "filename", "") or "")
    if isinstance(error, OSError) and named and named.startswith(tuple(filter(None, outputs))):
        words = f"cannot write {named}: {error.strerror or error}"
    complain(f"outlive {args.command}: {words}")
    return exits.USAGE


def exit_code_after(error: Exception) -> int:
    """Say what happened; the exit code."""
    if isinstance(error, CommandFailed):
        return error.code
    if isinstance(error, BrokenPipeError):
        _silence_stdout()  # the reader of our output has seen enough
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
    complain("outlive: this is a bug in outlive, not in your model; please report it with the lines above")
    return exits.OUR_BUG


def _silence_stdout() -> None:
    """Point stdout elsewhere, or Python complains about it at exit."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
