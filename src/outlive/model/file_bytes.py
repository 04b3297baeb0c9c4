"""The bytes of a file, read and never mapped.

A mapped file that another program cuts short ends its reader by SIGBUS. Here a short read is an exception.

    while it is read     need(start, stop) ──> are they in `view`? if not, they are read into it
    afterwards           look(start, stop) ──> opened again, the same file? read, and kept
    at any time          read(start, stop) ──> read, not kept

Files of some megabytes are read at once: a copy costs less than many calls. Of larger ones chunks are read as
they are looked at, into memory that is as large as the file and costs only what was read. Either is given
back by `close`, so that a model in memory does not hold its weights, nor a descriptor.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from outlive.system_features import lazy_zeroes, read_at

SHIFT = 9
CHUNK = 1 << SHIFT  # far less than a page: of most places in a large file only a few words are wanted
# Who reads the first chunk, or one after the other, will want the next ones.
_AHEAD_CHUNKS = 64
_WHOLE_BYTES = 8 << 20
# Files up to this size stay in memory: they are hardly larger than what is read of them.
_KEPT_BYTES = 1 << 16
_PIECE_BYTES = 1 << 20
_NOTHING = memoryview(b"")

_Stamp = tuple[int, int, int, int]


class ByteRange(NamedTuple):
    """Where a vector of bytes lies in the file; known to be inside it."""

    start: int
    stop: int


class FileChanged(Exception):
    """The file is not, or no longer, what was opened; says what is different."""

    def __init__(self, path: str, detail: str) -> None:
        """Keep where it was, and what is different in words."""
        super().__init__(f"{path}: {detail}")
        self.path, self.detail = path, detail


# What is raised for a file that has changed after it was read; the caller may know a better error.
Refusal = Callable[[FileChanged], Exception]


def as_it_is(change: FileChanged) -> Exception:
    """The change itself."""
    return change


class FileBytes:
    """Bytes in memory, or of a file.

    `ready` has a byte for each chunk: not zero if the chunk and the one behind it are in `view`, so that one
    look at it is enough for whatever is not longer than a chunk.
    """

    __slots__ = (
        "_file",
        "_filled",
        "_kept",
        "_memory",
        "_path",
        "_refusal",
        "_stamp",
        "ready",
        "size",
        "view",
    )

    def __init__(self, view: memoryview) -> None:
        """All of it is here already."""
        self.view, self.size = view, view.nbytes
        self.ready: bytes | bytearray = b"\1" * ((self.size >> SHIFT) + 1)
        self._filled, self._memory, self._path = bytearray(), _NOTHING, ""
        self._kept: dict[tuple[int, int], memoryview] = {}
        self._file: io.FileIO | None = None
        self._refusal: Refusal = as_it_is
        self._stamp: _Stamp = (0, 0, 0, 0)

    @classmethod
    def open(cls, path: str, refusal: Refusal = as_it_is) -> FileBytes:
        """The bytes of a regular file, none of which is read yet. OSError if it cannot be opened.

        What is read after `close` raises what `refusal` makes of a change.
        """
        made = cls(_NOTHING)
        made._refusal = refusal
        made._path = os.path.abspath(path)
        made._file = io.FileIO(path)
        try:
            made._stamp = _stamp(made._file)
        except OSError:
            made.release()
            raise
        made.size = made._stamp[2]
        chunks = (made.size >> SHIFT) + 1
        made.ready, made._filled = bytearray(chunks), bytearray(chunks)
        return made

    def close(self) -> None:
        """Give descriptor and memory back. `FileChanged` if the file was written to since it was opened."""
        file, self._file = self._file, None
        if file is None:
            return
        with file:
            self._compare(file)
        if self.size <= _KEPT_BYTES and not self._filled:
            self._path = ""
        else:
            self.view, self._memory, self._filled = _NOTHING, _NOTHING, bytearray()

    def release(self) -> None:
        """Give the descriptor back, whatever became of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def look(self, start: int, stop: int) -> memoryview:
        """These bytes; they stay in memory as long as the model does."""
        if not self._path:
            return self.view[start:stop]
        if self._file is not None:
            self.need(start, stop)
            return memoryview(bytes(self.view[start:stop]))
        whole = self._kept.get((0, self.size))
        if whole is not None:
            return whole[start:stop]
        if (start, stop) not in self._kept:
            self._kept[start, stop] = self.read(start, stop)
        return self._kept[start, stop]

    def read(self, start: int, stop: int) -> memoryview:
        """These bytes for a moment: what of them was not kept before is not kept now."""
        if not self._path or (self._file is not None and not self._filled):
            return self.view[start:stop]
        whole = self._kept.get((0, self.size))
        if whole is not None:
            return whole[start:stop]
        with self._opened() as file:
            return self._fetched(file, start, stop)

    def peek(self, start: int, stop: int) -> bytes:
        """A few bytes of the open file, past `view`; fewer where it ends."""
        assert self._file is not None
        try:
            return read_at(self._file, stop - start, start)
        except OSError as error:
            raise self._unreadable(start, error) from error

    def digest(self, start: int, stop: int) -> bytes:
        """The SHA-256 of these bytes, none of which are kept."""
        import hashlib

        found = hashlib.sha256()
        for at in range(start, stop, _PIECE_BYTES):
            found.update(self.read(at, min(at + _PIECE_BYTES, stop)))
        return found.digest()

    def need(self, start: int, stop: int) -> None:
        """See to it, while the file is read, that these bytes of it are in `view`."""
        first, end = start >> SHIFT, (stop + CHUNK - 1) >> SHIFT
        if self.ready.find(0, first, end) < 0:
            return
        assert self._file is not None, "only who reads the file looks at the view"
        if self.size <= _WHOLE_BYTES:
            self.view = self._fetched(self._file, 0, self.size)
            self.ready, self._filled = b"\1" * len(self.ready), bytearray()
        else:
            self._fill(self._file, first, end)

    def _fill(self, file: io.FileIO, first: int, end: int) -> None:
        """Read the chunks that are missing, and one more: see `ready`.

        What is here already is never read again: it was checked, and must not change.
        """
        if not self._memory:
            self._memory = memoryview(lazy_zeroes(self.size))
            self.view = self._memory.toreadonly()
        filled, chunks = self._filled, len(self._filled)
        ahead = _AHEAD_CHUNKS if not first or filled[first - 1] else 1
        end = min(end + ahead, chunks)
        at = filled.find(0, first, end)
        while at >= 0:
            until = filled.find(1, at, end)
            until = end if until < 0 else until
            self._fetch(file, self._memory[at << SHIFT : until << SHIFT], at << SHIFT)
            filled[at:until] = b"\1" * (until - at)
            at = filled.find(0, until, end)
        last = end if end == chunks or filled[end] else end - 1
        assert isinstance(self.ready, bytearray)
        self.ready[first:last] = b"\1" * (last - first)

    def _fetched(self, file: io.FileIO, start: int, stop: int) -> memoryview:
        """A copy of these bytes of the file."""
        try:
            file.seek(start)
            data = file.read(stop - start)
        except OSError as error:
            raise self._unreadable(start, error) from error
        if len(data) < stop - start:
            made = bytearray(stop - start)
            made[: len(data)] = data
            self._fetch(file, memoryview(made)[len(data) :], start + len(data))
            return memoryview(made).toreadonly()
        return memoryview(data)

    def _fetch(self, file: io.FileIO, into: memoryview, at: int) -> None:
        try:
            file.seek(at)
            while into.nbytes:
                count = file.readinto(into)
                if not count:
                    detail = f"now ends at byte {at:,}; had {self.size:,} bytes when opened"
                    raise FileChanged(self._path, detail)
                into, at = into[count:], at + count
        except OSError as error:
            raise self._unreadable(at, error) from error

    def _unreadable(self, at: int, error: OSError) -> FileChanged:
        return FileChanged(self._path, f"byte {at:,} is not readable: {error.strerror}")

    @contextmanager
    def _opened(self) -> Iterator[io.FileIO]:
        """The open file; after `close` it is opened for a moment, and compared with what it was."""
        if self._file is not None:
            yield self._file
            return
        try:
            with self._open_again() as file:
                self._compare(file)
                yield file
                self._compare(file)
        except FileChanged as change:
            raise self._refusal(change) from change

    def _open_again(self) -> io.FileIO:
        try:
            return io.FileIO(self._path)
        except OSError as error:
            raise FileChanged(self._path, f"it cannot be opened again: {error.strerror}") from error

    def _compare(self, file: io.FileIO) -> None:
        try:
            now, (device, inode, size, _) = _stamp(file), self._stamp
        except OSError as error:
            raise FileChanged(self._path, f"not accessible: {error.strerror}") from error
        if now == self._stamp:
            return
        if now[:2] != (device, inode):
            raise FileChanged(self._path, "another file has taken its place since it was opened")
        if now[2] != size:
            raise FileChanged(self._path, f"now has {now[2]:,} bytes, had {size:,} when opened")
        raise FileChanged(self._path, "it was written to since it was opened")


def _stamp(file: io.FileIO) -> _Stamp:
    """What tells one state of a file from another."""
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
