"""A script or module run as the main program, the way Python itself runs it; its exit code and its error."""

from __future__ import annotations

import atexit
import contextlib
import os
import runpy
import sys
import threading
import traceback
from types import TracebackType
from typing import Any

from . import exceptions, forks

_FAILED, _INTERRUPTED = 1, 130


def run(target: str, arguments: list[str], as_module: bool) -> tuple[int, dict[str, Any] | None]:
    """Run it to its end, threads and farewells included; what it raises is printed, as Python does.

    Its exit code, and what it raised in words.
    """
    sys.argv[:] = [target, *arguments]
    sys.path.insert(0, os.getcwd() if as_module else os.path.dirname(os.path.abspath(target)))
    code, raised = _FAILED, None
    try:
        if as_module:
            runpy.run_module(target, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(target, run_name="__main__")
        code = 0
    except SystemExit as end:
        code = forks.exit_code(end.code)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        error = error.with_traceback(_own_frames(error.__traceback__))
        traceback.print_exception(type(error), error, error.__traceback__)
        with contextlib.suppress(Exception):  # to say it takes memory, which may be what it lacks
            raised = exceptions.in_words(error)
    _finish()
    if forks.ForkState.is_fork:  # a child of the script's that came to its end: the script goes on elsewhere
        forks.leave(SystemExit(code))
    return code, raised


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from where the script begins; all of it if that is nowhere, as for a missing file."""
    place = trace
    while place is not None:
        name = place.tb_frame.f_code.co_filename
        if "runpy" not in name and name != __file__:
            return place
        place = place.tb_next
    return trace


def _finish() -> None:
    """What Python does at the end of a main program."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
