"""What is to be done next, what is being done, and what was done already. Threads of an engine share it.

Each file goes one of these ways, and ends as one row in the journal:

    done in an earlier scan that is resumed ──► nothing     the same bytes are done ──► a row like theirs
    kept from another scan ──► that row                     the same bytes are being done ──► waits for them
    otherwise ──► a task for the engine ──► its row; if the engine loses it: again, then alone, then a row
                                            says so

Rows on disk, a line each, as they come: what is written survives the scan.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from outlive.atomic_files import file_digest, whole_file
from outlive.cache import ResultCache
from outlive.fleet.file_discovery import FoundFile
from outlive.fleet.file_scan import row_without_scan
from outlive.fleet.rows import EngineError, Row, ScanOptions, ScanTask, read_row, row_of, versions
from outlive.process.operating_system import lock_file, write_at
from outlive.records import copy_fields, document_of

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


# How often a task may be lost among others before it has to show that it is not to blame, alone.
_IN_COMPANY = 2
# How often it may be lost alone.
_ALONE = 2


class ScanState:
    """Gives tasks out and takes rows in."""

    def __init__(
        self,
        files: Sequence[FoundFile],
        order: ScanOptions,
        journal: Journal,
        cache: ResultCache | None,
        tell: Callable[[Row], None] = lambda row: None,
        places: Mapping[str, int] | None = None,
    ) -> None:
        """Begin with these files; `tell` hears of each row that is written.

        `places` says where in the journal the rows of digests are that are known already.
        """
        self._files, self._here = iter(files), os.getcwd()
        self._order, self._order_key = order, order.key
        self._journal, self._cache, self._tell = journal, cache, tell
        self._lock = threading.RLock()
        self._out: dict[int, ScanTask] = {}
        self._again: deque[ScanTask] = deque()
        self._alone: deque[ScanTask] = deque()
        self._losses: dict[int, int] = {}
        self._waiting: dict[str, list[ScanTask]] = {}  # by the digest that is being scanned
        self._places = dict(places or {})  # where the row of a digest is
        self._count = self._round = 0
        self._empty = False
        self._fruitless = self._crowd = 0
        self._problem: Exception | None = None

    @property
    def done(self) -> bool:
        """True when every file has its row."""
        with self._lock:
            return self._empty and not (self._out or self._again or self._alone)

    def round(self) -> Iterator[ScanTask]:
        """The tasks of one call of the engine; those of an earlier call that is over get no more.

        Where a task is suspected of taking engine processes along, it makes a round of its own.
        """
        with self._lock:
            self._round += 1
            # Not a generator: closing it must leave the rest where it is.
            return iter(partial(self.next_task, self._round, bool(self._alone)), None)

    def next_task(self, round_number: int, alone: bool) -> ScanTask | None:
        """The next task of a round; None when there is none, or the round is over."""
        with self._lock:
            if round_number != self._round or self._problem is not None:
                return None
            if alone:
                task = self._alone.popleft() if self._alone and not self._out else None
            else:
                task = self._again.popleft() if self._again else self._new_task()
            if task is not None:
                self._out[task.number] = task
            return task

    def _new_task(self) -> ScanTask | None:
        for found in self._files:
            task = self._task(found)
            try:
                if not self._settled(task):
                    return task
            except Exception as error:
                # The caller may be a thread of the engine, which would lose the exception.
                self._problem = self._problem or error
                return None
        self._empty = True
        return None

    def raise_problem(self) -> None:
        """Raise what kept a row from being written or told: that is not the engine's doing."""
        with self._lock:
            if self._problem is not None:
                raise self._problem

    def _task(self, found: FoundFile) -> ScanTask:
        self._count += 1
        return copy_fields(
            ScanTask,
            found,
            number=self._count,
            place=os.path.join(self._here, found.path),
            sha256=digest(found.path),
            order=self._order,
            order_key=self._order_key,
            owner=os.getpid(),
        )

    def _settled(self, task: ScanTask) -> bool:
        """True if no task is needed for the file: its row is known, or will be."""
        if task.sha256 in self._places:
            self._write_like(self._journal.read(self._places[task.sha256]), task)
            return True
        if task.sha256 in self._waiting:
            self._waiting[task.sha256].append(task)
            return True
        kept = self._recalled(task)
        if kept is not None:
            self._write(_put_to(kept, task))
            return True
        if task.sha256:
            self._waiting[task.sha256] = []
        return False

    def _recalled(self, task: ScanTask) -> Row | None:
        """What this file came to in another scan; None if that is not known, or cannot be read."""
        if self._cache is None or not task.sha256:
            return None
        try:
            row = row_of(self._cache.recall(task.sha256, task.order_key))
        except ValueError:
            return None
        is_same = (row.sha256, row.order_key) == (task.sha256, task.order_key)
        return replace(row, from_cache=True, same_as=None) if is_same else None

    def _keep(self, row: Row) -> None:
        """Keep a row that another scan would find just so, on this machine and with these versions."""
        if self._cache is None or row.passing or row.from_cache or not row.sha256:
            return
        elsewhere = (self._order.run or self._order.delegates) and row.host != platform.node()
        if not elsewhere and dict(row.versions) == versions():
            self._cache.keep(document_of(row), row.sha256, row.order_key)

    def take(self, row: Row) -> None:
        """Write the row that came for a task, and those of identical files."""
        with self._lock:
            task = self._out.pop(row.number, None)
            if task is None:
                return  # it was thought lost, and another process has done it
            self._fruitless = self._crowd = 0
            try:
                self._finish(task, row)
            except Exception as error:
                self._problem = self._problem or error
                raise

    def _finish(self, task: ScanTask, row: Row) -> None:
        self._losses.pop(task.number, None)
        self._write(row)
        others = self._waiting.pop(task.sha256, [])
        if row.sha256 != task.sha256 or row.changed:
            # The file was another one when it was looked at: its twins are no longer that.
            if others:
                self._waiting[task.sha256] = others[1:]
                self._again.append(others[0])
            return
        self._keep(row)
        for other in others:
            self._write_like(row, other)

    def lost(self, error: BaseException) -> None:
        """The engine has lost all that it was given and has not answered; EngineError if it always does."""
        with self._lock:
            self._round += 1
            suspects = list(self._out.values())
            self._out.clear()
            self._fruitless += 1
            self._crowd = max(self._crowd, len(suspects) + len(self._alone))
            # Were all of them to blame, it would take this long until each has its row.
            if self._fruitless > _IN_COMPANY + _ALONE * self._crowd + 2:
                self._again.extend(suspects)
                raise EngineError(f"the engine is gone: {type(error).__name__}: {error}"[:500]) from error
            for task in suspects:
                self._judge_lost(task, error)

    def _judge_lost(self, task: ScanTask, error: BaseException) -> None:
        losses = self._losses[task.number] = self._losses.get(task.number, 0) + 1
        if losses < _IN_COMPANY:
            self._again.append(task)
        elif losses < _IN_COMPANY + _ALONE:
            self._alone.append(task)
        else:
            words = " ".join(f"{type(error).__name__}: {error}".split())
            note = f"the scanning process was lost {losses} times: {words}"
            self._finish(task, row_without_scan(task, "lost", note))

    def _write_like(self, row: Row, task: ScanTask) -> None:
        """A row like that of an identical file."""
        self._write(replace(_put_to(row, task), same_as=row.same_as or row.path, seconds=0.0))

    def _write(self, row: Row) -> None:
        start = self._journal.write(row)
        if row.sha256 and row.same_as is None:
            self._places.setdefault(row.sha256, start)
        self._tell(row)


def digest(path: str) -> str:
    """The sha256 of a regular file; empty if it cannot be read."""
    if not os.path.isfile(path):
        return ""
    try:
        return file_digest(path)
    except OSError:
        return ""


def _put_to(row: Row, task: ScanTask) -> Row:
    """The row with what is a file's own, whatever its bytes."""
    bare = row_without_scan(task, "sound", "")
    names = ("path", "name", "file_bytes", "mtime_ns", "order_key", "number")
    return replace(row, **{name: getattr(bare, name) for name in names})
