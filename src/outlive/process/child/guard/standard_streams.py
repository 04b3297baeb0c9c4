"""What a guarded function prints and logs: out at once, so that nothing is lost at a death."""

from __future__ import annotations

import io
import logging
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from ..operating_system import own_process


def connect(out: int, errors: int, stdin: int = -1) -> None:
    """Make the pipes our standard streams, for Python and for native code."""
    os.dup2(out, 1)
    os.dup2(errors, 2)
    if stdin >= 0:
        os.dup2(stdin, 0)
    for descriptor in {out, errors, stdin}:
        if descriptor > 2:
            os.close(descriptor)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), errors="replace")
    for name, number in (("stdout", 1), ("stderr", 2)):
        # No buffer at all: what lies in one is lost with the process, and comes too late before that.
        stream = io.TextIOWrapper(
            io.FileIO(number, "w", closefd=False),  # type: ignore[arg-type,unused-ignore]
            encoding="utf-8",
            errors="backslashreplace",
            newline="",
            write_through=True,
        )
        setattr(sys, name, stream)
        setattr(sys, "__%s__" % name, stream)
    own_process.unbuffer_native_output()


def flush() -> None:
    """Write what the function's own streams still hold."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass  # replaced or closed by the function


def set_warnings(filters: list[Any]) -> None:
    """Warn as the caller does."""
    warnings.resetwarnings()
    warnings.filters[:] = [tuple(one) for one in filters]  # type: ignore[index,unused-ignore]
    getattr(warnings, "_filters_mutated", lambda: None)()


class LogSender(logging.Handler):
    """Hands log records to the caller, whose own handlers then deal with them."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        """Send with this."""
        super().__init__()
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record in words: what it was made of may not be sent."""
        try:
            text = record.getMessage()
            if record.exc_info and not record.exc_text:
                record.exc_text = logging.Formatter().formatException(record.exc_info)
            self._send(
                (
                    str(record.name),
                    int(record.levelno),
                    str(record.pathname),
                    int(record.lineno or 0),
                    text,
                    str(record.funcName or ""),
                    str(record.exc_text or ""),
                    str(record.stack_info or ""),
                    float(record.created),
                )
            )
        except Exception:
            self.handleError(record)


_levels_set: set[str] = set()


def set_levels(levels: dict[str, int], disabled: int) -> None:
    """Log as much as the caller does; a level that it has taken back is taken back here."""
    logging.disable(disabled)
    for name in _levels_set.difference(levels):
        logging.getLogger(name).setLevel(logging.NOTSET)
    for name, level in levels.items():
        logging.getLogger(name or None).setLevel(level)
    _levels_set.clear()
    _levels_set.update(levels)
