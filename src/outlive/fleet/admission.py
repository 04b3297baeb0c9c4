"""Who may run now: models run side by side only while their planned memory fits the machine.

A file that all engine processes of a user on a machine share says who runs and who waits. First come, first
served: a large model waits until there is room and is not overtaken for ever by small ones. Whoever is dead
is struck off by the next.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from outlive.meter import read_machine

try:
    fcntl: Any = import_module("fcntl")
except ImportError:  # Windows: each process admits its own
    fcntl = None

# Left to the system and to the processes that look at models.
_KEPT_SHARE = 0.1
_KEPT_BYTES = 200_000_000
_LEAST_BYTES = 64_000_000
_GLANCE_S = 0.05
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One that runs or waits: the process, its ticket, and the memory it plans to use."""

    pid: int
    ticket: int
    bytes: int
    running: bool


def usable_bytes() -> int | None:
    """What all models that run at the same time may add on this machine; None if it does not say."""
    usable = read_machine().usable_bytes()
    if usable is None:
        return None
    return max(int(usable - max(usable * _KEPT_SHARE, _KEPT_BYTES)), _LEAST_BYTES)


@contextmanager
def admitted(planned_bytes: int, budget_bytes: int | None, folder: Path | None = None) -> Iterator[None]:
    """Wait until there is room for a model of this size, and hold it for the time of the block."""
    if budget_bytes is None or (ledger := _open(folder)) is None:
        yield
        return
    with ledger:
        ticket = ledger.draw(planned_bytes)
        try:
            while not ledger.may_run(ticket, budget_bytes):
                time.sleep(_GLANCE_S)
            yield
        finally:
            ledger.leave(ticket)


class Ledger:
    """The file that says who runs and who waits. Use it as a context: it is closed at the end."""

    def __init__(self, file: IO[str]) -> None:
        """Take a file that is open for reading and writing."""
        self._file = file

    def __enter__(self) -> Ledger:
        """The ledger itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def draw(self, planned_bytes: int) -> int:
        """A ticket, behind all others."""
        with self._locked() as entries:
            ticket = max((entry.ticket for entry in entries), default=0) + 1
            entries.append(Entry(pid=os.getpid(), ticket=ticket, bytes=planned_bytes, running=False))
        return ticket

    def may_run(self, ticket: int, budget_bytes: int) -> bool:
        """True if it is this ticket's turn and there is room; then it counts as running."""
        with self._locked() as entries:
            mine = next(entry for entry in entries if entry.ticket == ticket)
            if any(not entry.running and entry.ticket < ticket for entry in entries):
                return False
            taken = sum(entry.bytes for entry in entries if entry.running)
            if taken and taken + mine.bytes > budget_bytes:
                return False
            entries.remove(mine)
            entries.append(Entry(pid=mine.pid, ticket=ticket, bytes=mine.bytes, running=True))
            return True

    def leave(self, ticket: int) -> None:
        """Give the room back."""
        with contextlib.suppress(OSError), self._locked() as entries:
            entries[:] = [entry for entry in entries if entry.ticket != ticket]

    def entries(self) -> tuple[Entry, ...]:
        """Who runs and who waits now."""
        with self._locked() as entries:
            return tuple(entries)

    @contextmanager
    def _locked(self) -> Iterator[list[Entry]]:
        with _threads:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                self._file.seek(0)
                entries = _parse(self._file.read(_MOST_BYTES))
                yield entries
                self._file.seek(0)
                self._file.truncate()
                json.dump([[e.pid, e.ticket, e.bytes, e.running] for e in entries], self._file)
                self._file.flush()
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)


# A lock on a file is one for all threads of a process that opened it once; ours open it each.
_threads = threading.Lock()


def _open(folder: Path | None) -> Ledger | None:
    """The ledger of this user on this machine; None where there can be none."""
    if fcntl is None:
        return None
    home = folder or Path(tempfile.gettempdir()) / f"outlive-{os.getuid()}"
    try:
        home.mkdir(mode=0o700, exist_ok=True)
        status = os.lstat(home)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            return None  # somebody else's: not to be trusted
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return Ledger(os.fdopen(os.open(home / "admission.json", flags, 0o600), "r+", encoding="ascii"))
    except OSError:
        return None


def _parse(text: str) -> list[Entry]:
    """The entries of those that live; a damaged ledger is begun anew."""
    try:
        rows: Any = json.loads(text or "[]")
        entries = [Entry(pid=int(a), ticket=int(b), bytes=int(c), running=bool(d)) for a, b, c, d in rows]
    except (ValueError, TypeError, RecursionError):
        return []
    return [entry for entry in entries if _lives(entry.pid)]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
