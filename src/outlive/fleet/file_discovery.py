"""From what a user names to the files that are meant: folders, patterns, lists, single files."""

import codecs
import contextlib
import glob
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

SUFFIXES = (".tflite",)
LIST_SUFFIXES = (".txt", ".lst")
# The file identifier of a FlatBuffer of TensorFlow Lite, at byte 4.
_IDENTIFIER = b"TFL3"
_WILD = ("*", "?", "[")
# A list of more than this is no list.
_MOST_LIST_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file to look at: its path, and its name below the folder that was asked for."""

    path: str
    name: str


# Whether to leave out a path (True stands for a folder); and what says so, by the folder that is walked.
Skip = Callable[[str, bool], bool]
SkipBelow = Callable[[str], Skip]


def find_files(words: Sequence[str], skip_below: SkipBelow | None = None) -> list[FoundFile]:
    """The files meant, each once, in the order they are named; ValueError for a word that means nothing.

    A folder gives every model below it: by suffix, or by the first bytes; `skip_below` says what to leave
    out of it. What is named itself is always taken, model or not.
    """
    found: dict[str, FoundFile] = {}
    for word in words:
        for item in _meant(os.fspath(word), skip_below):
            found.setdefault(os.path.normpath(item.path), item)
    return list(found.values())


def _meant(word: str, skip_below: SkipBelow | None) -> Iterator[FoundFile]:
    if word == "-" or word.startswith("@"):
        yield from _listed("-" if word in ("-", "@-") else word[1:])
    elif os.path.isdir(word):
        yield from _below(word, skip_below)
    elif word.endswith(LIST_SUFFIXES) and os.path.isfile(word):
        yield from _listed(word)
    elif os.path.lexists(word) or not any(char in word for char in _WILD):
        yield FoundFile(path=word, name=os.path.basename(word) or word)
    else:
        yield from _matching(word)


def _matching(pattern: str) -> Iterator[FoundFile]:
    """What a pattern matches; folders among it with all models below them."""
    start = os.path.dirname(pattern[: min(pattern.index(char) for char in _WILD if char in pattern)])
    matched = sorted(set(_expand(pattern)))
    if not matched:
        raise ValueError(f"no file matches {pattern!r}")
    for path in matched:
        if os.path.isdir(path):
            # `**` names every folder on its way as well: what is in those is matched by itself.
            if not pattern.endswith("**") or _is_closed(path):
                yield from _below(path)
        else:
            yield FoundFile(path=path, name=os.path.relpath(path, start or "."))


def _expand(pattern: str) -> Iterator[str]:
    """What a pattern matches. `**` follows links as all else here does, and enters no folder twice."""
    start, deep, rest = _split(pattern)
    if not deep:
        yield from glob.iglob(pattern)
        return
    for base in glob.iglob(start) if start else [""]:
        for folder in _folders(base):
            if folder and _is_closed(folder):
                yield folder
            elif rest:
                yield from _expand(os.path.join(glob.escape(folder), rest))
            else:
                yield from glob.iglob(os.path.join(glob.escape(folder), "*"))


def _split(pattern: str) -> tuple[str, bool, str]:
    """What stands before the first `**`, whether there is one, and what stands after it."""
    parts = pattern.split(os.sep)
    if "**" not in parts:
        return pattern, False, ""
    place = parts.index("**")
    rest = os.sep.join(parts[place + 1 :]).lstrip(os.sep)
    return os.sep.join(parts[:place]) + (os.sep if place else ""), True, rest


def _folders(base: str) -> Iterator[str]:
    """A folder and all below it that are not hidden."""
    for here, entries in _walk(base, hidden=False):
        if entries is not None or _is_closed(here or os.curdir):
            yield here


def _walk(
    base: str, hidden: bool, skip: Skip = lambda path, is_folder: False
) -> Iterator[tuple[str, list[os.DirEntry[str]] | None]]:
    """A folder and all below it, each with its entries; None if it was entered before, or cannot be."""
    seen: set[tuple[int, int]] = set()
    pending = [base]
    while pending:
        here = pending.pop()
        entries = _entries(here or os.curdir, seen)
        yield here, entries
        names = [entry.name for entry in entries or () if _is_folder(entry)]
        below = [os.path.join(here, name) for name in names if hidden or name[0] != "."]
        pending += [path for path in reversed(below) if not skip(path, True)]


def _listed(word: str) -> Iterator[FoundFile]:
    """The files of a list: one on each line, or with zero bytes between them where a name has lines."""
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if word == "-" else open(word, "rb") as file:
            data = file.read(_MOST_LIST_BYTES)
    except OSError as error:
        raise ValueError(f"the list {word} cannot be read: {error.strerror}") from error
    # A list that comes through a pipe, as from <(ls), lies nowhere: its paths are seen from here.
    where = os.path.dirname(word) if word != "-" and os.path.isfile(word) else ""
    data = data.removeprefix(codecs.BOM_UTF8)
    names = data.split(b"\0") if b"\0" in data else [line.strip(b"\r") for line in data.split(b"\n")]
    for name in names:
        text = os.fsdecode(name)
        if text.strip() and not text.startswith("#"):
            path = os.path.join(where, text)
            yield from _below(path) if os.path.isdir(path) else [FoundFile(path=path, name=text)]


def _below(folder: str, skip_below: SkipBelow | None = None) -> Iterator[FoundFile]:
    """Every model below a folder, sorted; links are followed, and no folder is entered twice.

    A folder that may not be entered is given itself: its row says so.
    """
    skip = skip_below(folder) if skip_below else lambda path, is_folder: False
    for here, entries in _walk(folder, hidden=True, skip=skip):
        if entries is None and _is_closed(here):
            yield FoundFile(path=here, name=os.path.relpath(here, folder) if here != folder else here)
        for entry in entries or ():
            if not _is_folder(entry) and not skip(entry.path, False) and _is_model(entry):
                yield FoundFile(path=entry.path, name=os.path.relpath(entry.path, folder))


def _entries(folder: str, seen: set[tuple[int, int]]) -> list[os.DirEntry[str]] | None:
    """What a folder holds; None if it was entered before, or cannot be."""
    try:
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in seen:
            return None
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return None


def _is_closed(folder: str) -> bool:
    """True for a folder that is there and cannot be entered."""
    try:
        os.scandir(folder).close()
    except FileNotFoundError:
        return False  # it was deleted meanwhile
    except OSError:
        return True
    return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads in a circle


def _is_model(entry: os.DirEntry[str]) -> bool:
    """True for a regular file that is called a model or begins as one; pipes and devices are not opened."""
    try:
        if not stat.S_ISREG(entry.stat().st_mode):
            return False
    except OSError:
        return entry.name.lower().endswith(SUFFIXES)  # a dead link to a model is worth a row
    return entry.name.lower().endswith(SUFFIXES) or _begins_as_model(entry.path)


def _begins_as_model(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    try:
        return os.read(descriptor, 8)[4:] == _IDENTIFIER
    except OSError:
        return False
    finally:
        os.close(descriptor)
