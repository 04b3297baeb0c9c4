"""The process that traces a kernel: where native code was, and which operator it ran, when the kernel died.

    prepare ──> the tracer waits ──> the kernel starts, and may have to allow it ──> trace ──> end

OUTLIVE_TRACE_KERNELS=off, for a server, a kernel or all, is for those who want to attach a debugger: a
process has one tracer at the most. `kill` the tracer of a kernel that runs (TracerPid in /proc/PID/status),
and the kernel goes on without it.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from outlive.process.operating_system import TRACES_KERNELS, start_in_session, wait_for_end
from outlive.process.worker_factory import START

_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from child.watcher import trace_kernel; "
    "trace_kernel.main(sys.argv[2:])"
)
_CODE = str(Path(START).parent.parent)
_SWITCH, _OFF = "OUTLIVE_TRACE_KERNELS", ("off", "0", "no")
# How long it may take to let a dead kernel go. After that it is ended, and the system does it.
_PATIENCE_S = 5.0


class KernelTracer:
    """The tracer of one kernel, which does not need it: without one there is no native stack."""

    def __init__(self, folder: Path) -> None:
        """Start it; OSError if that is not possible."""
        self._process = start_in_session(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, _CODE, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
        self._overdue_s = 0.0

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def trace(self, kernel: int) -> None:
        """Have it trace this process; nothing happens if it is gone."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(b"%d\n" % kernel)
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def kernel_is_dead(self) -> None:
        """Say again and again that the kernel is dead: a tracer that does not see it is ended.

        The system tells others of a process's end once its tracer has taken note of it.
        """
        self._overdue_s = self._overdue_s or time.monotonic() + _PATIENCE_S
        if time.monotonic() > self._overdue_s:
            self._process.kill()

    def await_end(self) -> None:
        """The kernel has ended, and its tracer has taken note: wait until it has ended, too."""
        wait_for_end(self._process, _PATIENCE_S)
        self._close()

    def stop(self) -> None:
        """End it; a kernel that lives goes on."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()


def prepare(folder: Path, environment: Mapping[str, str]) -> KernelTracer | None:
    """A tracer for a kernel with this folder; None where the user, or the system, has none."""
    if not TRACES_KERNELS or environment.get(_SWITCH, "").lower() in _OFF:
        return None
    try:
        return KernelTracer(folder)
    except (OSError, subprocess.SubprocessError):
        return None
