"""How much memory a process holds at this moment, seen from outside: what psutil knows of it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import TracebackType
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A process's memory: what is its own, what is resident, and the resident part that is not its own."""

    private_bytes: int
    rss_bytes: int
    shared_bytes: int


class MemoryProbe:
    """A look at one process again and again; a later process of the same number is never taken for it."""

    def __init__(self, pid: int) -> None:
        """Open the process's counters; that it is gone shows at the first reading."""
        self._process = _open_process(pid)

    def read_cheap(self) -> Sample | None:
        """The process's memory by counters that cost little; None once the process is gone."""
        if self._process is None:
            return None
        psutil = import_module("psutil")
        try:
            # is_running is false also where a later process has the same number.
            if not self._process.is_running() or self._process.status() == psutil.STATUS_ZOMBIE:
                return None
            rss = int(self._process.memory_info().rss)
        except (psutil.Error, OSError):
            return None
        try:
            private = int(self._process.memory_full_info().uss)
        except (psutil.Error, OSError, AttributeError):
            private = rss  # the system says no more about a process that is not ours
        return Sample(private_bytes=private, rss_bytes=rss, shared_bytes=max(0, rss - private))

    def read(self) -> Sample | None:
        """Private bytes as exact as the system tells them."""
        return self.read_cheap()

    def read_grown(self) -> Sample | None:
        """All anonymous memory, shared with a parent or not: its growth is what a forked process adds."""
        return self.read_cheap()

    def close(self) -> None:
        """Let go of the process; it reads as gone from now on."""
        self._process = None

    def __enter__(self) -> MemoryProbe:
        """The probe itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()


def _open_process(pid: int) -> Any:
    """The process as psutil has it; None if there is none, or no psutil."""
    try:
        psutil = import_module("psutil")
    except ImportError:
        return None
    try:
        return psutil.Process(pid)
    except (psutil.Error, OSError):
        return None
