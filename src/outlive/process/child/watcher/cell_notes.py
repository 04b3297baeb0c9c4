"""Notes, in the kernel itself, which cell runs and how the kernel is asked to end; for a watcher outside.

Standard library only, Python 3.8: a Jupyter server loads it in kernels of environments without outlive.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import mmap
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, Sequence

from ..operating_system import watched_process
from . import notes_file
from .growing_variable import GrowingVariable
from .kernel_hooks import KernelHooks

# A cell is source code; what is longer was pasted, and its beginning says enough.
_MOST_SOURCE = 8000
_MOST_FILES = 48


class CellNotes:
    """The notes of one kernel, written from now on; `close` undoes every change."""

    def __init__(self, shell: Any, folder: Path, before_cell: Callable[[], None] | None = None) -> None:
        """Write into the folder, which has the notes file; `before_cell` is called when a cell begins."""
        self._shell, self._before_cell = shell, before_cell
        self._owner = os.getpid()
        self._cells: list[dict[str, Any]] = []
        self._files: dict[str, str] = {}
        self._variables = GrowingVariable()
        self._growing: dict[str, Any] = {}
        with (folder / notes_file.NOTES_FILE).open("r+b") as file:
            self.notes = mmap.mmap(file.fileno(), notes_file.SIZE)
        notes_file.set_word(self.notes, notes_file.BUSY, 0)
        notes_file.set_word(self.notes, notes_file.BEGAN_NS, time.time_ns())
        flags = os.O_CREAT | os.O_RDWR | os.O_APPEND
        self._faults = os.open(str(folder / notes_file.FAULTS_FILE), flags, 0o600)
        self._hooks = KernelHooks(self.notes, self._faults, shell)
        atexit.register(self._leave)
        self._join_running_cell()
        shell.events.register("pre_run_cell", self._cell_begins)
        shell.events.register("post_run_cell", self._cell_ends)
        notes_file.set_word(self.notes, notes_file.NOTED_BY, self._owner)

    def dump_on(self, number: int) -> None:
        """Have a signal write the Python stacks to the faults: how a watcher asks where a kernel hangs."""
        faulthandler.register(number, file=self._faults, all_threads=True, chain=False)
        notes_file.set_word(self.notes, notes_file.DUMP_SIGNAL, number)

    def close(self) -> None:
        """Undo every change."""
        atexit.unregister(self._leave)
        for event, function in (("pre_run_cell", self._cell_begins), ("post_run_cell", self._cell_ends)):
            with contextlib.suppress(ValueError):
                self._shell.events.unregister(event, function)
        self._hooks.remove()
        os.close(self._faults)

    def _leave(self) -> None:
        """The interpreter ends as it should."""
        if os.getpid() == self._owner:
            self._hooks.note_end(notes_file.LEFT)

    def _join_running_cell(self) -> None:
        """Note the cell in which we were started, if it was a cell: it may do more than that."""
        history = self._history()
        if len(history) > 1 and is_in_cell():
            self._enter(str(history[-1]), len(history) - 1)

    def _history(self) -> Sequence[str]:
        """The cells so far, an empty one first; IPython's own count rises before a cell or after it."""
        manager = getattr(self._shell, "history_manager", None)
        return getattr(manager, "input_hist_raw", ("",))

    def _cell_begins(self, info: Any) -> None:
        if os.getpid() == self._owner:
            self._enter(str(info.raw_cell), len(self._history()))

    def _enter(self, source: str, number: int) -> None:
        if self._before_cell is not None:
            self._before_cell()
        with contextlib.suppress(Exception):
            name = self._shell.compile.get_code_name(source, source, number)
            self._files.pop(name, None)
            self._files[name] = f"cell [{number}]"
            while len(self._files) > _MOST_FILES:
                del self._files[next(iter(self._files))]
        os.truncate(self._faults, 0)  # what a forked copy may have left there is not about this cell
        self._cells.append({"number": number, "source": source[:_MOST_SOURCE], "files": self._files})
        self._note(time.time_ns())

    def _cell_ends(self, *_: Any) -> None:
        if os.getpid() != self._owner:
            return
        last = self._cells.pop() if self._cells else None
        if self._cells:  # a cell that ran another one goes on
            self._note(None)
        elif last is not None:
            notes_file.set_word(self.notes, notes_file.BUSY, 0)
            with contextlib.suppress(Exception):
                self._look_at_variables(last)

    def _look_at_variables(self, cell: dict[str, Any]) -> None:
        found = self._variables.look(self._shell.user_ns)
        if found:
            self._growing = {**found, "number": cell["number"]}
            self._put(cell)

    def _put(self, cell: dict[str, Any]) -> None:
        notes_file.put_text(self.notes, json.dumps({**cell, notes_file.GROWING: self._growing}).encode())

    def _note(self, began_ns: int | None) -> None:
        self._put(self._cells[-1])
        if began_ns is not None:
            notes_file.set_word(self.notes, notes_file.BEGAN_NS, began_ns)
        notes_file.set_word(self.notes, notes_file.BUSY, len(self._cells))


def attach(shell: Any, folder: str, stderr: int, most_bytes: int, tracer: int) -> CellNotes:
    """Note this kernel's cells for the server that started it, which has made the folder.

    What native code writes to descriptor 2 then goes to the server first, which passes it on to where
    ipykernel reads it: a process that dies takes along what only it has read. `stderr` is the server's own
    standard error, where ipykernel's copy goes: to the server's pipe it would come back. `most_bytes` is what
    the kernel may allocate, 0 for as much as there is. `tracer` is to trace the kernel, 0 for none.
    """
    with contextlib.suppress(Exception):
        watched_process.allow_tracer(tracer)
    notes = CellNotes(shell, Path(folder))
    with contextlib.suppress(Exception):
        notes.dump_on(watched_process.DUMP_SIGNAL)
    with contextlib.suppress(Exception):
        watched_process.limit_memory(most_bytes)
    with contextlib.suppress(Exception):
        copy = sys.stderr.fileno()
        if copy != 2 and stderr > 2:  # ipykernel has put a pipe of its own in the place of descriptor 2
            to_server, to_ipykernel = os.dup(copy), os.dup(2)
            os.dup2(stderr, copy, inheritable=False)
            os.dup2(to_server, 2)
            os.close(to_server)
            notes_file.set_word(notes.notes, notes_file.STDERR_FD, to_ipykernel)
    return notes


def is_in_cell() -> bool:
    """Whether we were called from a cell, and not while a kernel starts."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == "run_code" and frame.f_code.co_filename.endswith("interactiveshell.py"):
            return True
    return False
