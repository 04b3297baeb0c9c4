"""Lists the files attached to a model as a zip archive at its end (labels, vocabularies)."""

from __future__ import annotations

import io

from outlive.model.card import AttachedFile

# An end-of-directory record is 22 bytes and a comment of up to 65,535.
_TAIL_BYTES = 22 + 65_535
_MAX_FILES = 10_000


class BadArchive(Exception):
    """The archive's directory cannot be read."""


class _ViewFile(io.RawIOBase):
    """A seekable file over a view, so that zipfile reads the directory without copying the model."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._at = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._view)}[whence]
        if start + offset < 0:
            raise OSError("seek before the start of the file")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        stop = len(self._view) if size is None or size < 0 else self._at + size
        data = bytes(self._view[self._at : stop])
        self._at += len(data)
        return data


def has_zip(view: memoryview) -> bool:
    """True if the file ends in a zip archive's directory."""
    return bytes(view[-22:-18]) == b"PK\x05\x06" or bytes(view[-_TAIL_BYTES:]).rfind(b"PK\x05\x06") >= 0


def list_zip(view: memoryview) -> tuple[AttachedFile, ...]:
    """The files in the archive; `BadArchive` if its directory cannot be read."""
    import zipfile  # only few models have one, and importing it costs more than reading most models

    try:
        # The file object is ours and holds no resource; closing the archive would gain nothing.
        entries = zipfile.ZipFile(_ViewFile(view)).infolist()[:_MAX_FILES]
    except Exception as error:
        # Hostile archives make zipfile raise many things: struct.error, OverflowError and others.
        raise BadArchive(str(error) or type(error).__name__) from error
    return tuple(
        AttachedFile(name=entry.filename, size_bytes=entry.file_size, stored_bytes=entry.compress_size)
        for entry in entries
    )
