"""Small changes to a running kernel that let its recorder tell a death from a normal end; all are undone.

- `os._exit` notes its code and the Python stack first; a kernel whose server is gone leaves by it too
  (ipykernel/parentpoller.py), and that is a normal end.
- `faulthandler` writes to a file of ours; where the user had it write, or tells it to later, gets a copy.
- A request to shut down, and the interpreter's own end, are noted as what they are.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys
from types import FrameType
from typing import Any, Callable

from ..operating_system import watched_process
from . import notes_file

_MOST_FRAMES = 100


class KernelHooks:
    """The changes, made at once and undone with `remove`."""

    def __init__(self, notes: Any, faults: int, shell: Any) -> None:
        """Make all changes; `faults` is the descriptor that stack dumps go to."""
        self._notes, self._faults = notes, faults
        self._owner = os.getpid()
        self._undo = contextlib.ExitStack()
        self._originals: dict[str, Callable[..., Any]] = {}
        self._theirs = _usual_target() if faulthandler.is_enabled() else -1
        notes_file.set_word(notes, notes_file.FAULT_FD, self._theirs)
        self._replace(os, "_exit", self._exit)
        self._replace(faulthandler, "enable", self._enabled_by_user)
        self._replace(faulthandler, "disable", self._disabled_by_user)
        kernel = getattr(shell, "kernel", None)
        if hasattr(kernel, "do_shutdown"):
            self._replace(kernel, "do_shutdown", self._asked)
        self._originals["enable"](file=faults, all_threads=True)
        watched_process.after_fork_in_child(self._in_fork)

    def remove(self) -> None:
        """Put everything back as it was."""
        self._undo.close()
        if self._is_ours():
            self._let_go()
        self._owner = -1

    def note_end(self, word: int) -> None:
        """Note how the kernel is about to end, if that is not known yet."""
        if self._is_ours() and notes_file.get_word(self._notes, notes_file.ENDING) == notes_file.LIVES:
            notes_file.set_word(self._notes, notes_file.ENDING, word)

    def _replace(self, place: Any, name: str, stand_in: Callable[..., Any]) -> None:
        original = self._originals[name] = getattr(place, name)
        setattr(place, name, stand_in)
        self._undo.callback(_put_back, place, name, stand_in, original)

    def _is_ours(self) -> bool:
        return os.getpid() == self._owner

    def _exit(self, status: int) -> Any:
        """`os._exit`, noted: by the kernel's own watch over its server, or by other code."""
        if self._is_ours():
            caller = sys._getframe(1)
            orphaned = os.path.basename(caller.f_code.co_filename) == "parentpoller.py"
            with contextlib.suppress(Exception):
                notes_file.set_word(self._notes, notes_file.EXIT_CODE, int(status) & 0xFF)
                self.note_end(notes_file.ORPHANED if orphaned else notes_file.EXITED)
                os.write(self._faults, _stack_of(caller))
        return self._originals["_exit"](status)

    def _enabled_by_user(self, file: Any = None, all_threads: bool = True, **others: Any) -> None:
        """`faulthandler.enable`: the file is noted, so that the recorder gives it a copy of the dump."""
        number = _usual_target() if file is None else file if isinstance(file, int) else file.fileno()
        if self._is_ours():
            self._theirs, number = number, self._faults
            notes_file.set_word(self._notes, notes_file.FAULT_FD, self._theirs)
        self._originals["enable"](file=number, all_threads=all_threads, **others)

    def _disabled_by_user(self) -> bool:
        """`faulthandler.disable`: no copy for the user any more; ours stays."""
        if not self._is_ours():
            return bool(self._originals["disable"]())
        had, self._theirs = self._theirs >= 0, -1
        notes_file.set_word(self._notes, notes_file.FAULT_FD, -1)
        return had

    def _asked(self, restart: bool) -> Any:
        """The request to shut down: from here on every end is a normal one."""
        self.note_end(notes_file.ASKED)
        return self._originals["do_shutdown"](restart)

    def _in_fork(self) -> None:
        """A copy of the kernel is not the kernel: its crashes must not look like the kernel's."""
        if self._owner > 0:
            self._let_go()

    def _let_go(self) -> None:
        """Have stack dumps go where they would go without us."""
        with contextlib.suppress(Exception):
            if self._theirs >= 0:
                self._originals["enable"](file=self._theirs)
            else:
                self._originals["disable"]()


def _usual_target() -> int:
    """Where faulthandler writes by default; in a kernel, the server's own standard error."""
    try:
        return int(sys.stderr.fileno())
    except Exception:  # whatever stands in for it may have no descriptor
        return 2


def _stack_of(frame: FrameType | None) -> bytes:
    """The Python stack from this frame on, as faulthandler writes it."""
    lines = ["Stack (most recent call first):"]
    while frame is not None and len(lines) <= _MOST_FRAMES:
        lines.append(f'  File "{frame.f_code.co_filename}", line {frame.f_lineno} in {frame.f_code.co_name}')
        frame = frame.f_back
    return ("\n".join(lines) + "\n").encode("utf-8", errors="replace")


def _put_back(place: Any, name: str, stand_in: Any, original: Any) -> None:
    """Only if ours is still there: a function that has replaced it goes on calling it."""
    if getattr(place, name, None) == stand_in:
        setattr(place, name, original)
