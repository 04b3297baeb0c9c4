"""Who may run now: models run side by side only while their planned memory fits the machine.

A file that all engine processes of a user on a machine share says who runs and who waits. First come, first
served: a large model waits until there is room and is not overtaken for ever by small ones. Each holds a lock
on a file of its own for as long as it lives; the next one removes entries without a lock.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from outlive.meter import read_machine
from outlive.process.operating_system import lock_file, open_private, unlock_file, user_id

# Left to the system and to the processes that look at models.
_KEPT_SHARE = 0.1
_KEPT_BYTES = 200_000_000
_LEAST_BYTES = 64_000_000
_GLANCE_S = 0.05
_MOST_BYTES = 1 << 20
_TICKETS = "tickets.json"
_TOKEN = re.compile(r"[0-9a-f]{32}")


class QueueEntry(NamedTuple):
    """One that runs or waits: its token, its place in the queue, and the memory it plans to use."""

    token: str
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
    queue = None if budget_bytes is None else _open(folder)
    if queue is None or budget_bytes is None:
        yield
        return
    with queue, ExitStack() as held:
        # Where nothing can be written, there is no queue to wait in.
        with contextlib.suppress(OSError):
            token = held.enter_context(queue.ticket())
            while not queue.may_run(token, planned_bytes, budget_bytes):
                time.sleep(_GLANCE_S)
        yield


class AdmissionQueue:
    """The file that says who runs and who waits. Use it as a context: it is closed at the end."""

    def __init__(self, file: IO[str], folder: Path) -> None:
        """Take a file that is open for reading and writing, and the folder that locks are in."""
        self._file, self._folder = file, folder

    def __enter__(self) -> AdmissionQueue:
        """The queue itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def ticket(self) -> Iterator[str]:
        """A token that is known to live for the time of the block; the room it took is given back then."""
        token = uuid.uuid4().hex
        path = self._folder / token
        lock = open_private(path, os.O_CREAT | os.O_EXCL)
        try:
            lock_file(lock)
            yield token
        finally:
            with contextlib.suppress(OSError), self._locked() as entries:
                entries[:] = [entry for entry in entries if entry.token != token]
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(lock)

    def may_run(self, token: str, planned_bytes: int, budget_bytes: int) -> bool:
        """True if it is this one's turn and there is room; then it counts as running.

        Who is not in the queue, or no longer because it was damaged, is put behind all others.
        """
        with self._locked() as entries:
            mine = next((entry for entry in entries if entry.token == token), None)
            if mine is None:
                last = max((entry.ticket for entry in entries), default=0)
                mine = QueueEntry(token=token, ticket=last + 1, bytes=planned_bytes, running=False)
                entries.append(mine)
            if any(not entry.running and entry.ticket < mine.ticket for entry in entries):
                return False
            taken = sum(entry.bytes for entry in entries if entry.running)
            if taken and taken + mine.bytes > budget_bytes:
                return False
            entries.remove(mine)
            entries.append(mine._replace(running=True))
            return True

    def entries(self) -> tuple[QueueEntry, ...]:
        """Who runs and who waits now."""
        with self._locked() as entries:
            return tuple(entries)

    @contextmanager
    def _locked(self) -> Iterator[list[QueueEntry]]:
        with _threads:
            lock_file(self._file)
            try:
                self._file.seek(0)
                entries = _parse(self._file.read(_MOST_BYTES))
                entries = [entry for entry in entries if _lives(self._folder / entry.token)]
                yield entries
                self._file.seek(0)
                self._file.truncate()
                json.dump(entries, self._file)
                self._file.flush()
            finally:
                unlock_file(self._file)


# A lock on a file is one for all threads of a process that opened it once; ours open it each.
_threads = threading.Lock()


def _open(folder: Path | None) -> AdmissionQueue | None:
    """The queue of this user on this machine; None where there can be none."""
    try:
        home = folder or Path(tempfile.gettempdir()) / f"outlive-{user_id()}"
        home.mkdir(mode=0o700, exist_ok=True)
        status = os.lstat(home)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != user_id():
            return None  # another user's: not to be trusted
        descriptor = open_private(home / _TICKETS, os.O_CREAT)
        file = os.fdopen(descriptor, "r+", encoding="ascii", errors="replace")
    except OSError:
        return None
    return AdmissionQueue(file, home)


def _parse(text: str) -> list[QueueEntry]:
    """The entries; a damaged queue is begun anew."""
    try:
        entries = msgspec.json.decode(text or "[]", type=list[QueueEntry])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []
    return [entry for entry in entries if _TOKEN.fullmatch(entry.token)]


def _lives(path: Path) -> bool:
    """True if a process holds the lock of a token; the file of a token without one is removed."""
    try:
        lock = open_private(path)
    except OSError:
        return False
    try:
        lock_file(lock, wait=False)
    except OSError:
        return True
    else:
        path.unlink(missing_ok=True)
        return False
    finally:
        os.close(lock)
