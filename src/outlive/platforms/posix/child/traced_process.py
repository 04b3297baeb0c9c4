"""Tracing a process that is not ours: a fatal signal is seen before the process gets it.

    its thread stops ──> waitpid ──> Tracer.handle ──> `keep` gets what was seen ──> goes on, with its signal

The tracer sleeps until the process gets a signal or starts a thread. If it ends earlier, the system lets the
process go on.
"""

from __future__ import annotations

import os
import signal
import time

from . import watched_process
from .tracing import ptrace, tracee, tracer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_WALL = 0x40000000  # linux/wait.h: threads, too
# How long a process may take until it has allowed us to trace it, where the system asks for that.
_ALLOWED_AFTER_S, _GLANCE_S = 60.0, 0.1
# It is not to stand still for longer, whatever keeps us from looking at its stack.
_LONGEST_LOOK_S = 60


def trace(process: int, find_op: tracer.FindOp, keep: Callable[[dict[str, Any]], None]) -> str:
    """Trace a process until it has ended; empty, or why a process that lives cannot be traced."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    refused = _seize(process)
    if refused:
        return refused if _lives(process) else ""
    the_tracer = tracer.Tracer(find_op, lambda evidence: keep(tracer.short(evidence)))
    while True:
        try:
            task, status = os.waitpid(-1, _WALL)
        except ChildProcessError:  # it is gone, and all its threads
            return ""
        if os.WIFSTOPPED(status):
            signal.alarm(_LONGEST_LOOK_S)  # by default it ends us
            the_tracer.handle(task, status)
            signal.alarm(0)


def _seize(process: int) -> str:
    """Become its tracer; empty, or why that was refused."""
    end_s = time.monotonic() + _ALLOWED_AFTER_S
    while True:
        refused = ptrace.seize(process, ptrace.OF_KERNEL)
        waits = refused and watched_process.yama_scope() == 1 and _lives(process)
        if not waits or time.monotonic() > end_s:
            return refused
        time.sleep(_GLANCE_S)


def _lives(process: int) -> bool:
    return tracee.read_status(process).get("State", "Z")[0] not in "ZX"
