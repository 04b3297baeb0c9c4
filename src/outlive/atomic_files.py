"""How files are written: whole, or not at all. What was there before stays until the new file is complete."""

import contextlib
import errno
import hashlib
import io
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO

from outlive.system_features import CAN_RESERVE_ROOM, names_descriptors, reserve_room

FilePath = str | os.PathLike[str]

# A draft lies beside the file whose place it takes: only within a file system can one replace the other.
DRAFT, DRAFT_END = ".outlive-", ".part"
# What a folder says that takes no new file.
_NO_DRAFT = (errno.EACCES, errno.EPERM, errno.EROFS)
_LINKS = 40  # as many as Linux follows: include/linux/namei.h, MAXSYMLINKS


def write_whole(path: FilePath, data: bytes | str, mode: int = 0o666) -> None:
    """Write a file; see `whole_file`. Text is written as UTF-8."""
    with whole_file(path, mode) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextlib.contextmanager
def whole_text(path: FilePath, newline: str | None = None) -> Iterator[IO[str]]:
    """The same for text that is written bit by bit."""
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline=newline)
        yield text
        text.detach()  # after a flush; the file is not ours to close


@contextlib.contextmanager
def whole_file(path: FilePath, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A stream; what was written to it takes the place of the file when the block ends without an error.

    An error or Ctrl-C leaves the file as it was, and nothing beside it. Mode and owner stay, and so does a
    link: what it points to is replaced. A new file has `mode`, less the umask. What is no file, such as
    /dev/stdout or a FIFO, is written to as it is. An OSError names the file.
    """
    name = os.fspath(path)
    try:
        target = os.path.realpath(name)
        with _replacing(target, mode) if _can_be_replaced(name, target) else open(name, "wb") as file:
            yield file
    except OSError as error:
        if error.errno is None or not _is_of_draft(error.filename):
            raise
        raise OSError(error.errno, error.strerror, name) from error


def file_digest(path: FilePath) -> str:
    """The SHA-256 of a file, read piece by piece; `hashlib.file_digest` comes with Python 3.11."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _is_of_draft(name: str | None) -> bool:
    """True if an error is about our own file; one of a write names none."""
    return name is None or os.path.basename(name).startswith(DRAFT)


def _can_be_replaced(name: str, target: str) -> bool:
    try:
        status = os.stat(target)
    except OSError:
        return not os.path.lexists(target)
    if not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    return stat.S_ISREG(status.st_mode) and not _is_descriptor(name)


def _is_descriptor(name: str) -> bool:
    """True for /dev/stdout, /dev/fd/3 and the like: who opened that file would not see another one."""
    place = os.path.abspath(name)
    for _ in range(_LINKS):
        folder = os.path.realpath(os.path.dirname(place))
        if names_descriptors(folder):
            return True
        if not os.path.islink(place):
            break
        place = os.path.join(folder, os.readlink(place))
    return False


@contextlib.contextmanager
def _replacing(target: str, mode: int) -> Iterator[IO[bytes]]:
    draft = os.path.join(os.path.dirname(target), f"{DRAFT}{secrets.token_hex(8)}{DRAFT_END}")
    try:
        descriptor = _open_draft(draft, target, mode)
        if descriptor is None:
            held = io.BytesIO()
            yield held
            _overwrite(target, held.getbuffer())
            return
        with _stream(descriptor) as file:
            yield file
        _take_place(draft, target)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)


def _stream(descriptor: int) -> IO[bytes]:
    """A stream that owns the descriptor; if there is none, the descriptor is closed."""
    try:
        return os.fdopen(descriptor, "wb")
    except BaseException:
        os.close(descriptor)
        raise


def _open_draft(draft: str, target: str, mode: int) -> int | None:
    """A new file with the mode and owner of the old; None if none may be beside the old one."""
    old = os.stat(target) if os.path.exists(target) else None
    mode = mode if old is None else stat.S_IMODE(old.st_mode)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(draft, flags, mode & 0o777)
    except OSError as error:
        if old is None or error.errno not in _NO_DRAFT or not CAN_RESERVE_ROOM:
            raise
        return None
    if old is not None and hasattr(os, "fchown"):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        try:
            os.fchmod(descriptor, mode)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _take_place(draft: str, target: str) -> None:
    try:
        os.replace(draft, target)
    except OSError as error:
        # A file that is mounted, as containers do it, can be written to and not be replaced.
        if error.errno != errno.EBUSY or not CAN_RESERVE_ROOM:
            raise
        with open(draft, "rb") as file:
            _overwrite(target, file.read())


def _overwrite(target: str, data: bytes | memoryview) -> None:
    """Write over a file, once it is sure that there is room for all of it."""
    with open(target, "r+b", buffering=0) as file:
        old_bytes = os.fstat(file.fileno()).st_size
        try:
            reserve_room(file.fileno(), max(1, len(data)))
        except OSError:
            os.ftruncate(file.fileno(), old_bytes)
            raise
        view = memoryview(data)
        while view:
            view = view[file.write(view) or 0 :]
        file.truncate()
