"""Patterns of file names, as people write them in .gitignore: `*.tflite`, `pico/**`, `a/*/b.tflite`."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from pathlib import Path

_PIECES = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)
_MEANING = {"**/": "(?:[^/]+/)*", "/**": "/.+", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def is_match(path: str | os.PathLike[str], patterns: Iterable[str], folder: Path) -> bool:
    """True if one of the patterns, which are seen from the folder, names the file."""
    whole = os.path.abspath(path)
    try:
        place = Path(whole).relative_to(folder).as_posix()
    except ValueError:
        place = Path(whole).as_posix().lstrip("/")
    return any(_compile(pattern).fullmatch(place) for pattern in patterns)


@functools.lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    """The pattern as an expression: `a` in all folders, `a/` everything in a folder, `a/b` from the top."""
    pattern = pattern.removeprefix("./")
    if pattern.endswith("/"):
        pattern += "**"
    anywhere = "" if "/" in pattern else "(?:[^/]+/)*"
    pieces = _PIECES.findall(pattern.removeprefix("/"))
    try:
        return re.compile(anywhere + "".join(map(_piece, pieces)), re.DOTALL)
    except re.error:  # a range such as [z-a] names nothing but itself
        return re.compile(anywhere + re.escape(pattern))


def _piece(piece: str) -> str:
    if piece in _MEANING:
        return _MEANING[piece]
    if piece.startswith("[") and len(piece) > 1:
        inside = piece[1:-1].replace("\\", "\\\\")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(piece)
