"""Has this kernel recorded: starts the watcher process, notes which cell runs, and stops it again."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from outlive.kernel_deaths import kernel_tracer, record_store
from outlive.meter import oom_counter_file, process_start, read_boot_id, read_machine
from outlive.process.child.operating_system import watched_process
from outlive.process.child.watcher.cell_notes import CellNotes
from outlive.process.operating_system import WATCHES_KERNELS, open_process, start_in_session
from outlive.process.worker_factory import START

_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from child.watcher import watch_kernel; "
    "watch_kernel.main(sys.argv[2:])"
)
_CODE = str(Path(START).parent.parent)
# What a server that watches this kernel has loaded in it (startup/sitecustomize.py).
_FROM_OUTSIDE = "outlive_child.watcher.cell_notes"
_FAREWELL_S = 0.1
_LIMITS = ("cgroup_limit_bytes", "total_bytes")


class KernelRecorder:
    """The recording of one kernel; `start` returns None where it is off or not possible."""

    def __init__(self, shell: Any) -> None:
        """Make the folder and start the recorder; OSError if that is not possible here."""
        self._owner = os.getpid()
        self.about = describe()
        self.folder = record_store.open_folder(self.about)
        self._stderr = -1
        self._tracer = kernel_tracer.prepare(self.folder, os.environ)
        try:
            self._recorder = self._start_recorder()
        except BaseException:
            if self._tracer is not None:
                self._tracer.stop()
            raise
        if self._tracer is not None:
            watched_process.allow_tracer(self._tracer.pid)
            self._tracer.trace(os.getpid())
        self._notes = CellNotes(shell, self.folder, before_cell=self._check_recorder)
        atexit.register(self._leave)

    @property
    def pid(self) -> int:
        """The recorder's process."""
        return self._recorder.pid

    def close(self) -> None:
        """Let the recorder go without a record, and undo every change."""
        if os.getpid() != self._owner:
            return
        atexit.unregister(self._leave)
        self._notes.close()
        self._give_stderr_back()
        time.sleep(_FAREWELL_S)  # for what is still on its way to standard error
        self._recorder.kill()
        self._recorder.wait()
        if self._tracer is not None:
            self._tracer.stop()
        for path in self.folder.iterdir():
            path.unlink(missing_ok=True)
        self.folder.rmdir()

    def _start_recorder(self) -> subprocess.Popen[bytes]:
        """Standard error goes through the recorder from now on, unless a person sits at a terminal."""
        through = _is_open(2) and not os.isatty(2)
        theirs, ours = os.pipe() if through else (-1, -1)
        self._stderr = os.dup(2) if through else -1
        # Opened here: a kernel may be gone, status and all, before the recorder has begun to look.
        found = open_process(os.getpid())
        pidfd = -1 if found is None else found
        tracer = 0 if self._tracer is None else self._tracer.pid
        words = [os.getpid(), pidfd, theirs, self._stderr, tracer, self.folder, oom_counter_file()]
        try:
            recorder = start_in_session(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, _CODE, *map(str, words)],
                [item for item in (theirs, self._stderr, pidfd) if item >= 0],
                channel=theirs,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
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

    def _check_recorder(self) -> None:
        """Without a reader, writing to standard error would fail."""
        if self._recorder.poll() is not None:
            self._give_stderr_back()

    def _leave(self) -> None:
        """The interpreter ends as it should."""
        if os.getpid() == self._owner:
            self._give_stderr_back()


def start(shell: Any) -> KernelRecorder | None:
    """A black box for this kernel; None where it is switched off, or the system lacks what it needs."""
    if record_store.is_off() or not WATCHES_KERNELS or not hasattr(shell, "events"):
        return None
    if _FROM_OUTSIDE in sys.modules:  # the server that started this kernel records it
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
        "pid_start": process_start(os.getpid()),
        "boot": read_boot_id(),
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


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
