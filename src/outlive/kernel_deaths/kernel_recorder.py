"""Has this kernel recorded: starts the watcher process, notes which cell runs, and stops it again."""

from __future__ import annotations

import atexit
import contextlib
import json
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from outlive.kernel_deaths import record_store
from outlive.kernel_deaths.hooks import KernelHooks
from outlive.kernel_deaths.watcher import notes_file
from outlive.meter import find_memory_cgroup, read_machine

_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from watcher.watch_kernel import main; main(sys.argv[2:])"
)
# A cell is source code; what is longer was pasted, and its beginning says enough.
_MOST_SOURCE = 8000
_MOST_FILES = 48
_FAREWELL_S = 0.1
_LIMITS = ("cgroup_limit_bytes", "total_bytes")


class KernelRecorder:
    """The recording of one kernel; `start` returns None where it is off or not possible."""

    def __init__(self, shell: Any) -> None:
        """Make the folder and start the recorder; OSError if that is not possible here."""
        self._shell = shell
        self._owner = os.getpid()
        self._cells: list[dict[str, Any]] = []
        self._files: dict[str, str] = {}
        self.about = describe()
        self.folder = record_store.open_folder(self.about)
        with (self.folder / notes_file.NOTES_FILE).open("r+b") as file:
            self._notes = mmap.mmap(file.fileno(), notes_file.SIZE)
        notes_file.set_word(self._notes, notes_file.BEGAN_NS, time.time_ns())
        flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        self._faults = os.open(self.folder / notes_file.FAULTS_FILE, flags, 0o600)
        self._stderr = -1
        self._recorder = self._start_recorder()
        self._hooks = KernelHooks(self._notes, self._faults, shell)
        atexit.register(self._leave)
        self._join_running_cell()
        shell.events.register("pre_run_cell", self._cell_begins)
        shell.events.register("post_run_cell", self._cell_ends)

    @property
    def pid(self) -> int:
        """The recorder's process."""
        return self._recorder.pid

    def close(self) -> None:
        """Let the recorder go without a record, and undo every change."""
        if os.getpid() != self._owner:
            return
        atexit.unregister(self._leave)
        for event, function in (("pre_run_cell", self._cell_begins), ("post_run_cell", self._cell_ends)):
            with contextlib.suppress(ValueError):
                self._shell.events.unregister(event, function)
        self._hooks.remove()
        self._give_stderr_back()
        time.sleep(_FAREWELL_S)  # for what is still on its way to standard error
        self._recorder.kill()
        self._recorder.wait()
        for path in self.folder.iterdir():
            path.unlink(missing_ok=True)
        self.folder.rmdir()
        os.close(self._faults)

    def _start_recorder(self) -> subprocess.Popen[bytes]:
        """Standard error goes through the recorder from now on, unless a person sits at a terminal."""
        through = _is_open(2) and not os.isatty(2)
        theirs, ours = os.pipe() if through else (-1, -1)
        self._stderr = os.dup(2) if through else -1
        # Opened here: a kernel may be gone, status and all, before the recorder has begun to look.
        pidfd = _pidfd_of_ourselves()
        words = [os.getpid(), pidfd, theirs, self._stderr, self.folder, _oom_counter()]
        try:
            recorder = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, str(Path(__file__).parent), *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[item for item in (theirs, self._stderr, pidfd) if item >= 0],
                start_new_session=True,
                cwd="/",
            )
            if through:
                os.dup2(ours, 2)
            return recorder
        finally:
            for descriptor in (theirs, ours, pidfd):
                if descriptor >= 0:
                    os.close(descriptor)

    def _give_stderr_back(self) -> None:
        if self._stderr >= 0:
            os.dup2(self._stderr, 2)
            os.close(self._stderr)
        self._stderr = -1

    def _leave(self) -> None:
        """The interpreter ends as it should."""
        if os.getpid() == self._owner:
            self._hooks.note_end(notes_file.LEFT)
            self._give_stderr_back()

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
        if self._recorder.poll() is not None:  # without a reader, writing to standard error would fail
            self._give_stderr_back()
        with contextlib.suppress(Exception):
            self._files.pop(name := self._shell.compile.get_code_name(source, source, number), None)
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
            notes_file.set_word(self._notes, notes_file.BUSY, 0)

    def _note(self, began_ns: int | None) -> None:
        notes_file.put_text(self._notes, json.dumps(self._cells[-1]).encode())
        if began_ns is not None:
            notes_file.set_word(self._notes, notes_file.BEGAN_NS, began_ns)
        notes_file.set_word(self._notes, notes_file.BUSY, len(self._cells))


def start(shell: Any) -> KernelRecorder | None:
    """A black box for this kernel; None where it is switched off, or the system lacks what it needs."""
    if record_store.is_off() or not hasattr(os, "fork") or not hasattr(shell, "events"):
        return None
    try:
        return KernelRecorder(shell)
    except OSError:  # a full disk, a home that cannot be written to: work goes on without
        return None


def describe() -> dict[str, Any]:
    """Who this kernel is: enough to know it again after a restart."""
    machine = read_machine()
    limits = {name: size for name in _LIMITS if (size := getattr(machine, name))}
    return {
        "pid": os.getpid(),
        "pid_start": record_store.start_time(os.getpid()),
        "boot": record_store.boot_id(),
        "session": _connection_file(),
        "notebook": os.environ.get("JPY_SESSION_NAME", ""),
        "folder": os.getcwd(),
        "python": sys.version.split()[0],
        "started": time.time(),
        "memory_bytes": min(limits.values(), default=None),
        "memory_limit": min(limits, key=limits.__getitem__, default=""),
    }


def _connection_file() -> str:
    """The file that names a kernel's ports; a restarted kernel gets the same one."""
    ipykernel = sys.modules.get("ipykernel")
    if ipykernel is None:
        return ""
    try:
        return str(ipykernel.get_connection_file())
    except Exception:  # not a kernel: IPython in a terminal, with ipykernel imported
        return ""


def _oom_counter() -> str:
    """The file that counts kills for want of memory, as near to us as there is one."""
    place = find_memory_cgroup()
    if place is None or place.oom_events()[1] is None:
        return "/proc/vmstat"
    return str(place.path / ("memory.oom_control" if place.version == 1 else "memory.events"))


def _pidfd_of_ourselves() -> int:
    """A descriptor of this process; -1 where the system has none."""
    try:
        return os.pidfd_open(os.getpid())
    except (AttributeError, OSError):
        return -1


def is_in_cell() -> bool:
    """Whether we were called from a cell, and not while a kernel starts."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == "run_code" and frame.f_code.co_filename.endswith("interactiveshell.py"):
            return True
    return False


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
