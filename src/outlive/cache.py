"""What outlive keeps on disk from one run to the next: where it lies, how much there is, what goes first.

An entry is known by its place and name: a digest in the folder of a room. Nothing else is ever touched, and
no link is followed. Several processes may do all of this at once: who finds that a file is gone goes on.
"""

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from outlive.atomic_files import DRAFT, DRAFT_END, write_whole
from outlive.records import written
from outlive.system_features import NO_LINK, is_own
from outlive.units import parse_bytes

ROOMS = ("delegates", "fit", "scan")
MOST_DAYS = 90
_FOLDER_VARIABLE, _SIZE_VARIABLE = "OUTLIVE_CACHE", "OUTLIVE_CACHE_BYTES"
_MOST_BYTES = 512_000_000
_MOST_NOTE_BYTES, _MOST_MODEL_BYTES = 4 << 20, 128 << 20
# Results that were kept in another form are of no use.
_FORM = "2"
_DAY_S = 86_400
# A room is looked through once a day, and whenever a program has written so much since it last did.
_EVERY_BYTES = 64 << 20
_BLOCK_BYTES = 4096
_STAMP = f"{DRAFT}tidied"
_SUBFOLDER = re.compile(r"[0-9a-f]{2}")
_ENTRY = re.compile(r"[0-9a-f]{64}\.(?:json|tflite)")
_DRAFT = re.compile(re.escape(DRAFT) + r"[0-9a-f]{16}" + re.escape(DRAFT_END))
# Folders and files that we make for the length of a call: our words, and the letters that tempfile adds.
_TEMPORARY = re.compile(
    r"outlive-(?:(?:cache|convert|demo|fit|memray|prune|reshape|samples|scan|tflm|vela)-|gone|guard)?"
    r"[a-z0-9_]{8}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """A file that is kept: its size on disk, and when it was last used."""

    path: str
    size_bytes: int
    used: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How much is kept, or was removed, in a folder."""

    name: str
    folder: Path = field(metadata=written("path"))
    files: int
    size_bytes: int = field(metadata=written("bytes"))


@dataclass(slots=True)
class _Written:
    """What this program has added since it last looked through the caches; None before its first entry."""

    size_bytes: int | None = None


_written = _Written()


def cache_folder(room: str) -> Path:
    """Where a room keeps its results: in `OUTLIVE_CACHE`, else in the user's cache folder."""
    return _root() / room


def most_bytes() -> int:
    """How much all rooms may keep: `OUTLIVE_CACHE_BYTES`, such as 2GB; one that is no size does not count."""
    try:
        said = os.environ.get(_SIZE_VARIABLE, "")
        return int(said) if said.isdecimal() else parse_bytes(said)
    except ValueError:
        return _MOST_BYTES


class ResultCache:
    """Results kept under all that decides them, as JSON notes or as models; a folder None keeps nothing.

    Nothing here raises: what cannot be kept is found out again. Results of others are not trusted.
    """

    def __init__(self, folder: Path | None, *conditions: object) -> None:
        """Keep results in a folder; `conditions` are part of every key, such as versions and the machine."""
        self._folder, self._conditions = folder, conditions

    def recall(self, *key: object) -> dict[str, Any]:
        """The note under that key, which counts as used; empty if there is none that can be read."""
        content = self._read(self._path(key, ".json"), _MOST_NOTE_BYTES)
        try:
            found = json.loads(content) if content else {}
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def keep(self, note: Mapping[str, Any], *key: object) -> None:
        """Keep a note; one that is no JSON is forgotten."""
        with contextlib.suppress(ValueError, TypeError):
            self._write(self._path(key, ".json"), json.dumps(note).encode())

    def recall_model(self, *key: object) -> bytes:
        """The model under that key; empty if there is none, or it is not what was kept."""
        wanted = self.recall("model", *key).get("sha256")
        content = self._read(self._path(key, ".tflite"), _MOST_MODEL_BYTES)
        return content if content and hashlib.sha256(content).hexdigest() == wanted else b""

    def keep_model(self, content: bytes, *key: object) -> None:
        """Keep a model, if it is not too large for that."""
        if len(content) <= _MOST_MODEL_BYTES:
            self._write(self._path(key, ".tflite"), content)
            self.keep({"sha256": hashlib.sha256(content).hexdigest()}, "model", *key)

    def _path(self, key: tuple[object, ...], suffix: str) -> Path:
        words = json.dumps([_FORM, *map(str, self._conditions), *map(str, key)])
        name = hashlib.sha256(words.encode()).hexdigest()
        return (self._folder or Path()) / name[:2] / f"{name}{suffix}"

    def _read(self, path: Path, most_bytes: int) -> bytes:
        try:
            if self._folder is None or not _is_ours(self._folder) or path.stat().st_size > most_bytes:
                return b""
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return b""
        return data

    def _write(self, path: Path, content: bytes) -> None:
        """Write an entry, whole. Now and then, what was not used for longest goes."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_ours(self._folder):
                return
            self._folder.chmod(0o700)
            path.parent.mkdir(exist_ok=True)
            write_whole(path, content, mode=0o600)
        except OSError:
            return
        if _is_due(max(len(content), _BLOCK_BYTES)):
            tidy()


def versions_and_machine(*packages: str) -> tuple[str, ...]:
    """What decides a result that was measured here: the versions of packages, and the machine."""
    return (*map(_version, packages), platform.machine(), platform.node(), str(os.cpu_count()))


def tidy() -> None:
    """Remove what is old, and of the rest what was not used for longest until it is small enough."""
    _written.size_bytes = 0
    _stamp()
    found = sorted((entry for room in ROOMS for entry in _entries(room)), key=lambda entry: entry.used)
    total, most = sum(entry.size_bytes for entry in found), most_bytes()
    oldest = time.time() - MOST_DAYS * _DAY_S
    for entry in found:
        if total <= most and entry.used >= oldest:
            return
        _remove(entry.path)
        total -= entry.size_bytes


def usage() -> tuple[Usage, ...]:
    """What every room keeps."""
    return tuple(_sum(room, cache_folder(room), list(_entries(room))) for room in ROOMS)


def clean() -> tuple[Usage, ...]:
    """Remove all that is kept, and what programs that were killed have left in the temporary folder."""
    removed = []
    for room in ROOMS:
        gone = [entry for entry in _entries(room) if _remove(entry.path)]
        removed.append(_sum(room, cache_folder(room), gone))
    left = [entry for entry in _leftovers() if _remove(entry.path)]
    return (*removed, _sum("temporary files", Path(tempfile.gettempdir()), left))


def _root() -> Path:
    named = os.environ.get(_FOLDER_VARIABLE)
    if named:
        return Path(named)
    usual = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(usual) / "outlive"


def _is_ours(folder: Path) -> bool:
    return is_own(folder.stat())


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def _is_due(added_bytes: int) -> bool:
    if _written.size_bytes is not None:
        _written.size_bytes += added_bytes
        return _written.size_bytes > _EVERY_BYTES
    _written.size_bytes = added_bytes
    try:
        return time.time() - os.lstat(_root() / _STAMP).st_mtime > _DAY_S
    except OSError:
        return True


def _stamp() -> None:
    """Note the time, so that other programs need not look for a day."""
    with contextlib.suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINK
        descriptor = os.open(_root() / _STAMP, flags, 0o600)
        try:
            os.utime(descriptor)
        finally:
            os.close(descriptor)


def _entries(room: str) -> Iterator[CacheEntry]:
    """The entries of a room, and drafts of programs that were killed over them."""
    folder = cache_folder(room)
    if os.path.islink(folder):
        return
    for item in _list(folder):
        if _SUBFOLDER.fullmatch(item.name) and item.is_dir(follow_symlinks=False):
            yield from filter(None, map(_entry, _list(item.path)))
        elif entry := _entry(item):
            yield entry


def _entry(item: os.DirEntry[str]) -> CacheEntry | None:
    draft = _DRAFT.fullmatch(item.name)
    if not draft and not _ENTRY.fullmatch(item.name):
        return None
    # A draft of today may be one that is being written.
    return _look(item, stat.S_ISREG, _DAY_S if draft else None)


def _leftovers() -> Iterator[CacheEntry]:
    """What no program has touched for a day; a call that lasts longer writes to its folder now and then."""
    for item in _list(tempfile.gettempdir()):
        if _TEMPORARY.fullmatch(item.name) and (found := _look(item, _is_plain, _DAY_S)):
            yield found


def _is_plain(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _look(item: os.DirEntry[str], is_kind: Callable[[int], bool], least_s: float | None) -> CacheEntry | None:
    """A file or folder of this user's own and of that kind; None for others, or if it is younger."""
    try:
        status = item.stat(follow_symlinks=False)
    except OSError:
        return None
    young = least_s is not None and time.time() - status.st_mtime < least_s
    if not is_own(status) or young or not is_kind(status.st_mode):
        return None
    return CacheEntry(path=item.path, size_bytes=_size(item.path, status), used=status.st_mtime)


def _size(path: str, status: os.stat_result) -> int:
    """What a file takes of the disk, or a folder with all that is in it."""
    size = max(status.st_size, getattr(status, "st_blocks", 0) * 512)
    if stat.S_ISDIR(status.st_mode):
        for item in _list(path):
            with contextlib.suppress(OSError):
                size += _size(item.path, item.stat(follow_symlinks=False))
    return size


def _list(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return list(items)
    except OSError:
        return []


def _remove(path: str) -> bool:
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except OSError:
        return False
    return True


def _sum(name: str, folder: Path, entries: list[CacheEntry]) -> Usage:
    size = sum(entry.size_bytes for entry in entries)
    return Usage(name=name, folder=folder, files=len(entries), size_bytes=size)
