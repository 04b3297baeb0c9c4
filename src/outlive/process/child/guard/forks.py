"""The end of a process that a guarded function forked: it answers nothing, the worker answers itself."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from typing import Any, NoReturn

from ..operating_system import own_process
from . import standard_streams

_FAILED = 1


class ForkState:
    """This process: the worker, or one that was forked from it. To ask for its number takes longer."""

    is_fork = False

    @classmethod
    def note_fork(cls) -> None:
        """It is a forked one."""
        cls.is_fork = True


own_process.call_after_fork(ForkState.note_fork)


def leave_if_fork(error: BaseException) -> None:
    """Where the function has raised something: that is no answer if this is not the worker."""
    if ForkState.is_fork:
        leave(error)


def leave(error: BaseException | None) -> NoReturn:
    """End this process where the function ends, as Python ends one: what it raised is printed."""
    code = _FAILED
    try:
        code = _print_error(error)
        standard_streams.flush()
    finally:
        os._exit(code)


def show_log(fields: Any) -> None:
    """Write a log record to standard error: the way to the caller's handlers is the worker's."""
    name, level, _, _, text, _, trace, stack, _ = fields
    lines = ["%s:%s:%s" % (logging.getLevelName(level), name, text), trace, stack]
    sys.stderr.write("\n".join(line for line in lines if line) + "\n")


def exit_code(code: object) -> int:
    """What `SystemExit` says, as a number; words are printed."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stderr.write("%s\n" % (code,))
    return _FAILED


def _print_error(error: BaseException | None) -> int:
    """Say what was raised; the exit code."""
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        return exit_code(error.code)
    place = error.__traceback__
    own = place.tb_next if place is not None and place.tb_next is not None else place  # not our frame
    traceback.print_exception(type(error), error, own)
    return _FAILED
