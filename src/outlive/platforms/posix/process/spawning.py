"""Starts Python processes that outlast an interrupt, and waits for every one of them."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from outlive.platforms.posix.child.own_process import core_seconds, is_at_work
from outlive.process.worker_factory import START, CannotStartWorker, WorkerKind, in_words
from outlive.threads import run_uninterrupted

# What one Python's environment says of where its modules are misleads another Python.
_OF_THIS_PYTHON = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__")
_OBEY_S = 1.0
_OWN_TIME_S, _LONGEST_S = 1.0, 60.0  # as in `child.nursery`
# Whether a process can watch a kernel from outside and write down its end.
WATCHES_KERNELS = True
# Whether a process can trace a kernel, and say where native code was when it died.
TRACES_KERNELS = sys.platform.startswith("linux")
# Python calls what is registered here around each fork of the program.
at_fork = os.register_at_fork

# Held while a process is being started, and by a fork of the program: a forked child must not get a copy of a
# pipe's end that is the worker's, or the parent would never see the end of file that means its death. No
# thread waits for another process while holding it.
starting = threading.RLock()
# What this program started and has not yet waited for: an interrupt may come between any two lines, and a
# process that is not waited for stays in the process table.
_unburied: set[subprocess.Popen[bytes]] = set()


def child_command(kind: WorkerKind, role: str, arguments: dict[str, Any]) -> list[str]:
    """The command line of a child process."""
    path = [entry for entry in sys.path if entry and isinstance(entry, str)] if _is_ours(kind) else []
    return [kind.python, START, role, json.dumps({**arguments, "sys_path": path})]


def _is_ours(kind: WorkerKind) -> bool:
    return os.path.abspath(kind.python) == os.path.abspath(sys.executable)


def bury(timeout_s: float = 0.0) -> None:
    """Wait for processes that have ended, and so long at the most for those that are about to."""
    end = time.monotonic() + timeout_s
    while True:
        _unburied.difference_update([process for process in list(_unburied) if process.poll() is not None])
        # Processes whose start was interrupted: Python itself waits for those only when it starts the next.
        getattr(subprocess, "_cleanup", lambda: None)()
        if not (_unburied or getattr(subprocess, "_active", set())) or time.monotonic() >= end:
            return
        time.sleep(0.002)


def wait_for_end(process: subprocess.Popen[bytes], timeout_s: float) -> None:
    """Wait for a process that was told to end, and end it if it does not.

    An interrupt is raised only after that, or its remains would stay in the process table.
    """
    interrupt: BaseException | None = None
    while process.returncode is None:
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
        except BaseException as error:
            interrupt = error
            process.kill()
    if interrupt is not None:
        raise interrupt


def disown() -> None:
    """In a forked child of the program: they are the parent's to wait for."""
    for process in _unburied:
        process.returncode = 0
    _unburied.clear()


def spawn(
    kind: WorkerKind, role: str, arguments: dict[str, Any], descriptors: list[int], errors: int
) -> subprocess.Popen[bytes]:
    """Start a child process that has these descriptors."""
    misleading = () if _is_ours(kind) else _OF_THIS_PYTHON
    own = {k: v for k, v in os.environ.items() if k not in misleading} | dict(kind.environment)
    bury()
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        process = start_in_session(
            child_command(kind, role, arguments),
            descriptors,
            channel=descriptors[0],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=own,
        )
        _unburied.add(process)
        started.append(process)

    try:
        run_uninterrupted(start)
    except (MemoryError, OSError, subprocess.SubprocessError) as error:
        raise CannotStartWorker(f"cannot start {kind.python}: {in_words(error)}") from error
    return started[0]


def start_in_session(
    command: list[str], descriptors: Sequence[int] = (), channel: int = -1, **streams: Any
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own: a Ctrl-C in the terminal is not for it.

    Of `channel` it has one end and we have the other. When ours closes, at our death if not before, a program
    that was stopped goes on, and finds out: also one that was stopped before its first line.
    """
    process = subprocess.Popen(command, pass_fds=descriptors, start_new_session=True, **streams)
    if channel >= 0 and hasattr(fcntl, "F_SETSIG"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(channel, fcntl.F_SETOWN, process.pid)
            fcntl.fcntl(channel, fcntl.F_SETSIG, signal.SIGCONT)
            fcntl.fcntl(channel, fcntl.F_SETFL, fcntl.fcntl(channel, fcntl.F_GETFL) | os.O_ASYNC)
    return process


def abort(process: subprocess.Popen[bytes]) -> None:
    """End a process so that its faulthandler says where it was; at once if it does not obey."""
    process.send_signal(signal.SIGABRT)
    end, before_s = time.monotonic() + _LONGEST_S, core_seconds(process.pid)
    while time.monotonic() < end:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_OBEY_S)
        # One that got no core in that time has not had it.
        if not is_at_work(process.pid) or core_seconds(process.pid) - before_s >= _OWN_TIME_S:
            break
    process.kill()


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Do to a process what Ctrl-C does."""
    process.send_signal(signal.SIGINT)


def end_group(leader: int) -> None:
    """End what a process has started, unless that has made a session of its own."""
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def exit_codes_are_lost() -> bool:
    """True if this program does something of its own with ended processes (SIGCHLD)."""
    return signal.getsignal(signal.SIGCHLD) is not signal.SIG_DFL
