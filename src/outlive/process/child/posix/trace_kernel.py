"""The tracer of a kernel: sees a fatal signal before the kernel does, and leaves what it saw in its folder.

    python -I -S -c PROGRAM PATH FOLDER      the kernel's process number comes by standard input
    kernel's thread stops ──> waitpid ──> Tracer.handle ──> FOLDER/evidence ──> goes on, with its signal

A process of its own, beside the kernel: a server that traced would take each stop for the kernel's death. It
sleeps until the kernel gets a signal or starts a thread, and ends with the kernel. If it ends earlier, the
system lets the kernel go on: nothing is lost but the native stack.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from ..tracing import ptrace, tracee, tracer
from ..watcher import notes_file
from . import own_process, watched_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WALL = 0x40000000  # linux/wait.h: threads, too
# How long a kernel may take until it has allowed us to trace it, where the system asks for that.
_ALLOWED_AFTER_S, _GLANCE_S = 60.0, 0.1
# A kernel is not to stand still for longer, whatever keeps us from looking at its stack.
_LONGEST_LOOK_S = 60


def main(words: list[str]) -> None:
    """Trace the kernel whose number comes, if one comes."""
    own_process.be_plain()
    own_process.name_process("outlive-tracer")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    os.umask(0o077)
    (folder,) = words
    number = sys.stdin.readline()
    if number.strip().isdigit():
        _trace(int(number), os.path.join(folder, notes_file.EVIDENCE_FILE))


def _trace(kernel: int, path: str) -> None:
    def keep(evidence: dict[str, Any]) -> None:
        notes_file.write_private(path, {**tracer.short(evidence), "seen_ns": time.time_ns()})

    refused = _seize(kernel)
    if refused and not _lives(kernel):
        return  # with it, its folder goes
    if refused:
        notes_file.write_private(path, {"untraced": refused})
        return
    the_tracer = tracer.Tracer(keep)
    while True:
        try:
            task, status = os.waitpid(-1, _WALL)
        except ChildProcessError:  # it is gone, and all its threads
            return
        if os.WIFSTOPPED(status):
            signal.alarm(_LONGEST_LOOK_S)  # by default it ends us
            the_tracer.handle(task, status)
            signal.alarm(0)


def _seize(kernel: int) -> str:
    """Become its tracer; empty, or why that was refused."""
    end_s = time.monotonic() + _ALLOWED_AFTER_S
    while True:
        refused = ptrace.seize(kernel, ptrace.OF_KERNEL)
        waits = refused and watched_process.yama_scope() == 1 and _lives(kernel)
        if not waits or time.monotonic() > end_s:
            return refused
        time.sleep(_GLANCE_S)


def _lives(kernel: int) -> bool:
    return tracee.read_status(kernel).get("State", "Z")[0] not in "ZX"
