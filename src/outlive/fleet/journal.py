"""Rows on disk, a line each, as they come: what is written survives the scan."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from outlive.atomic_files import whole_file
from outlive.fleet.rows import Row, read_row
from outlive.process.operating_system import lock_file, write_at

# A row is some kilobytes; a longer line is none of ours.
_MOST_LINE_BYTES = 4 << 20
# What a power failure may cost; a killed scan loses nothing that was written.
_SYNC_S = 1.0
_CHUNK_BYTES = 1 << 20


class JournalInUse(ValueError):
    """Another scan writes to this file."""


class JournalError(OSError):
    """A row could not be written, or not be read again; the text says why."""

    def __init__(self, path: Path, error: Exception, verb: str = "write") -> None:
        """Say which file, and what is wrong with it."""
        why = (isinstance(error, OSError) and error.strerror) or error
        super().__init__(f"cannot {verb} {path}: {why}")
        self.filename = str(path)

    def __str__(self) -> str:
        """The text alone: with a file name, OSError would print its number first."""
        return str(self.args[0])

    def with_hint(self, hint: str) -> JournalError:
        """The same error, with what can be done about it."""
        self.args = (f"{self}{hint}",)
        return self


class Journal:
    """A file of rows that is written to. Threads may share it."""

    def __init__(self, path: Path, resume: bool = False) -> None:
        """Open it; ValueError if another scan writes to it. Without `resume` what it held is gone.

        With `resume` a last line that was cut short is taken away.
        """
        self.path = path
        self._lock = threading.Lock()
        self._synced = time.monotonic()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            self._claim()
            self._end = _sound_end(path) if resume else 0
            os.ftruncate(self._file, self._end)
        except BaseException as error:
            os.close(self._file)
            if type(error) is OSError:
                raise JournalError(path, error) from error
            raise

    def _claim(self) -> None:
        try:
            lock_file(self._file, wait=False)
        except BlockingIOError as error:
            raise JournalInUse(f"another scan is writing to {self.path}") from error
        except OSError:
            return  # a file system without locks: two scans into one file are not kept apart

    def write(self, row: Row) -> int:
        """Write a row; where in the file it begins. JournalError if it cannot be written."""
        line = row.line()
        with self._lock:
            start = end = self._end
            view = memoryview(line)
            try:
                while view:
                    written = write_at(self._file, view, end)
                    end += written
                    view = view[written:]
                if time.monotonic() - self._synced > _SYNC_S:
                    self._sync()
            except OSError as error:
                raise JournalError(self.path, error) from error
            self._end = end
        return start

    def read(self, start: int) -> Row:
        """The row that begins there; JournalError if the file was changed meanwhile."""
        try:
            return row_at(self.path, start)
        except (OSError, ValueError) as error:
            raise JournalError(self.path, error, "read again") from error

    def _sync(self) -> None:
        os.fsync(self._file)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Make sure that everything is on the disk, and let go of the file."""
        with self._lock:
            if self._file < 0:
                return
            try:
                self._sync()
            except OSError as error:
                raise JournalError(self.path, error) from error
            finally:
                os.close(self._file)
                self._file = -1


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Where each whole line begins, and the line; what is too long is left out."""
    with path.open("rb") as file:
        while line := file.readline(_MOST_LINE_BYTES):
            if line.endswith(b"\n"):
                yield file.tell() - len(line), line
            while line and not line.endswith(b"\n"):
                line = file.readline(_CHUNK_BYTES)


def _sound_end(path: Path) -> int:
    """Where the last whole line ends."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while size:
            start = max(0, size - _CHUNK_BYTES)
            file.seek(start)
            place = file.read(size - start).rfind(b"\n")
            if place >= 0:
                return start + place + 1
            size = start
    return 0


def read_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Where each row begins, and the row, one at a time; lines that are no rows are left out."""
    for start, line in _lines(path):
        try:
            yield start, read_row(line)
        except ValueError:
            continue


def row_at(path: Path, start: int) -> Row:
    """The row that begins there."""
    with path.open("rb") as file:
        file.seek(start)
        return read_row(file.readline(_MOST_LINE_BYTES))


class RowFile:
    """Rows of a finished scan by path, without holding them: only where each begins is kept."""

    def __init__(self, path: Path) -> None:
        """Find the rows; of two for one path the later one counts. OSError if it cannot be read."""
        self.path = path
        self.by_path: dict[str, int] = {}
        self.by_name: dict[str, int | None] = {}
        self.count = 0
        for start, row in read_rows(path):
            self.count += 1
            self.by_path[row.path] = start
            # A name that two files share names neither.
            known = self.by_name.get(row.name, start)
            same = known is not None and (known == start or row_at(path, known).path == row.path)
            self.by_name[row.name] = start if same else None

    def __iter__(self) -> Iterator[Row]:
        """The rows, one at a time, in the order of their paths."""
        for path in sorted(self.by_path):
            yield row_at(self.path, self.by_path[path])

    def find(self, row: Row) -> Row | None:
        """The row of the same path, or else of the same name below its folder."""
        start = self.by_path.get(row.path)
        if start is None:
            start = self.by_name.get(row.name)
        return None if start is None else row_at(self.path, start)

    @property
    def has_old_rows(self) -> bool:
        """True if some rows have been replaced by later ones."""
        return self.count > len(self.by_path)


def drop_old_rows(path: Path) -> None:
    """Write the file anew without rows that later ones have replaced."""
    rows = RowFile(path)
    if not rows.has_old_rows:
        return
    try:
        with whole_file(path) as file:
            file.writelines(row.line() for row in rows)
    except OSError as error:
        raise JournalError(path, error) from error
