"""Guards inside guarded functions: how deep they may go, and where none may be called."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

# So many workers may stand above one that calls a guarded function; each of them is a process that waits.
MOST_LEVELS = 20
# What this process knows of itself if it is a worker; None everywhere else.
_worker: Any = sys.modules.get("outlive_child.guard_nesting")
IS_WORKER = _worker is not None


class CannotNest(RuntimeError):
    """A guarded call inside a worker that would start workers without end; the text says what to do."""


def depth() -> int:
    """How many callers stand above this process."""
    return 0 if _worker is None else int(_worker.depth)


def check_nesting() -> None:
    """In a worker: `CannotNest` where a guarded call would start workers without end."""
    if _worker.reading:
        raise CannotNest(
            f"a guarded function is called {_place()} while a worker imports what it was sent, "
            "which would go on without end; put that call into a function, or under "
            '`if __name__ == "__main__":`'
        )
    if _worker.depth >= MOST_LEVELS:
        raise CannotNest(
            f"guarded functions call guarded functions {_worker.depth} deep, and each level is a process "
            "that waits; let the inner calls be plain ones, without outlive.guard"
        )


def _place() -> str:
    """Where the statement stands that runs while its module is imported."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            return f"in {frame.f_code.co_filename}, line {frame.f_lineno},"
        frame = frame.f_back
    return "by something that is unpickled,"
