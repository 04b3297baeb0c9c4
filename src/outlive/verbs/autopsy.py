"""`autopsy`: what a death outside outlive left behind, and what it means."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from outlive.diagnosis.autopsy import Autopsy, read_remains


def autopsy(text_or_path: str | bytes | os.PathLike[str]) -> Autopsy:
    """What a log, a core file or a pasted message of a death means, and what to do next.

    Give the path of a log or core file, or the text itself; bytes are the content of either. `.cause` is
    empty if nothing in it is known. OSError for a file that cannot be read.
    """
    path = _path(text_or_path)
    if path is not None:
        return replace(read_remains(Path(path).read_bytes(), path), source=path)
    given = text_or_path.encode(errors="replace") if isinstance(text_or_path, str) else text_or_path
    assert isinstance(given, (bytes, bytearray, memoryview))
    return replace(read_remains(bytes(given), None), source="the given text")


def _path(given: str | bytes | os.PathLike[str]) -> str | None:
    """The path that is meant; None for text. A word with a dot or a slash in it is a path, there or not."""
    if isinstance(given, os.PathLike):
        return os.fspath(given)
    if not isinstance(given, str) or len(given.splitlines()) > 1:
        return None
    is_word = len(given.split()) == 1 and any(mark in given for mark in "./\\")
    return given if is_word or os.path.isfile(given) else None
