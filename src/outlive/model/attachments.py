"""Lists the files attached to a model as a zip archive at its end (labels, vocabularies)."""

import io

from outlive.model.card import AttachedFile
from outlive.model.file_bytes import FileBytes, FileChanged

# An end-of-directory record is 22 bytes and a comment of up to 65,535.
_TAIL_BYTES = 22 + 65_535
_MAX_FILES = 10_000


class BadArchive(Exception):
    """The archive's directory cannot be read."""


class _Seekable(io.RawIOBase):
    """A seekable file over the bytes of one, so that zipfile reads the directory and not the model."""

    def __init__(self, file: FileBytes) -> None:
        self._bytes = file
        self._at = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._bytes.size}[whence]
        if start + offset < 0:
            raise OSError("seek before the start of the file")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        end = self._bytes.size
        stop = end if size is None or size < 0 else min(end, self._at + size)
        data = bytes(self._bytes.read(self._at, stop)) if self._at < stop else b""
        self._at += len(data)
        return data


def has_zip(file: FileBytes) -> bool:
    """True if the file ends in a zip archive's directory."""
    tail = bytes(file.read(max(0, file.size - _TAIL_BYTES), file.size))
    return tail.rfind(b"PK\x05\x06") >= 0


def list_zip(file: FileBytes) -> tuple[AttachedFile, ...]:
    """The files in the archive; `BadArchive` if its directory cannot be read."""
    import zipfile  # only few models have one, and importing it costs more than reading most models

    try:
        # The file object is ours and holds no resource; closing the archive would gain nothing.
        entries = zipfile.ZipFile(_Seekable(file)).infolist()[:_MAX_FILES]
    except FileChanged:
        raise
    except Exception as error:
        # Hostile archives make zipfile raise many things: struct.error, OverflowError and others.
        raise BadArchive(str(error) or type(error).__name__) from error
    return tuple(
        AttachedFile(name=entry.filename, size_bytes=entry.file_size, stored_bytes=entry.compress_size)
        for entry in entries
    )
