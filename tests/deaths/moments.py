"""Moments that a test chooses: something is done, or a deadline comes, once something else has happened.

On a busy machine nothing is sure to have happened after a second, or after ten.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from outlive.guarding import connection, guarded_call
from outlive.platforms.posix.child.own_process import core_seconds, is_at_work
from outlive.platforms.posix.process import pipes
from outlive.process import worker
from outlive.process.child import wire

_GLANCE_S = 0.005
_FAR_S = 1e6
_WORK_S = 0.05


def when(condition: Callable[[], object], action: Callable[[], object]) -> threading.Thread:
    """Do something as soon as something is so, in another thread."""

    def run() -> None:
        while not condition():
            time.sleep(_GLANCE_S)
        action()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


class Clock:
    """The clock by which calls know their deadline; it goes on by itself, and further when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead_s = 0.0
        self.is_over = False
        for module in (connection, guarded_call, pipes, worker):
            monkeypatch.setattr(module, "time", self)

    def monotonic(self) -> float:
        return time.monotonic() + self._ahead_s

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def advance(self, seconds: float = _FAR_S) -> None:
        """Let time pass."""
        self._ahead_s += seconds

    def advance_when(self, condition: Callable[[], object]) -> None:
        """Let all deadlines that are set by then pass as soon as something is so."""
        when(lambda: self.is_over or condition(), self.advance)


def a_worker_is_at(stage: str) -> bool:
    """True if one of this program's workers has come to this stage, and has worked there if it is a call."""
    number = wire.STAGES.index(stage)
    here = [
        one.pid for one in list(worker._alive) if not one.closed and one.block.words[wire.STAGE] == number
    ]
    return any(stage != "invoke" or works(pid) for pid in here)


def works(pid: int) -> bool:
    """True once it has had a core for a while, from now on."""
    before = core_seconds(pid)
    while core_seconds(pid) < before + _WORK_S and is_at_work(pid):
        time.sleep(_GLANCE_S)
    return core_seconds(pid) >= before + _WORK_S
