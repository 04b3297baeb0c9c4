"""Patterns of file names, as people write them in .gitignore: `*.tflite`, `broken/`, `a/*/b.tflite`.

A pattern that names a folder names all that is in it. There is no `!`: no pattern takes back another.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_PIECES = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?[^\]]+\]|\\.|.", re.DOTALL)
_MEANING = {"**/": "(?:[^/]+/)*", "/**": "/.+", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def is_match(path: str | os.PathLike[str], patterns: Iterable[str], folder: Path) -> bool:
    """True if one of the patterns, which are seen from the folder, names the file or a folder it is in."""
    whole = Path(os.path.abspath(path))
    try:
        inside = whole.relative_to(folder)
    except ValueError:
        return any(_names(pattern, whole.as_posix().lstrip("/"), ()) for pattern in patterns)
    above = [one.as_posix() for one in inside.parents][:-1]  # the last is the folder itself
    return any(_names(pattern, inside.as_posix(), above) for pattern in patterns)


def _names(pattern: str, place: str, above: Sequence[str]) -> bool:
    """True if a pattern names the place, or a folder above it; one with a slash at its end only folders."""
    expression = _compile(pattern.rstrip("/"))
    places = above if pattern.endswith("/") else (place, *above)
    return any(expression.fullmatch(one) for one in places)


@functools.lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    """The pattern as an expression: `a` in all folders, `/a` and `a/b` from the top."""
    anywhere = "" if "/" in pattern else "(?:[^/]+/)*"
    pattern = pattern.removeprefix("./").removeprefix("/")
    pieces = _PIECES.findall(pattern)
    try:
        return re.compile(anywhere + "".join(map(_piece, pieces)), re.DOTALL)
    except re.error:  # a range such as [z-a] names nothing but itself
        return re.compile(anywhere + re.escape(pattern))


def _piece(piece: str) -> str:
    if piece in _MEANING:
        return _MEANING[piece]
    if piece.startswith("[") and len(piece) > 1:
        inside = piece[1:-1].replace("\\", "\\\\")
        return f"(?!/)[^{inside[1:]}]" if inside.startswith("!") else f"(?!/)[{inside}]"
    return re.escape(piece[-1])  # without the backslash before it
