"""What is kept for the user from one run to the next: where it lies, and that it is whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

_FOLDER_VARIABLE = "OUTLIVE_CACHE"


def cache_folder(room: str) -> Path:
    """Where a room keeps its results: in `OUTLIVE_CACHE`, else in the user's cache folder."""
    named = os.environ.get(_FOLDER_VARIABLE)
    if named:
        return Path(named) / room
    usual = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(usual) / "outlive" / room


def keep_file(path: Path, data: bytes) -> bool:
    """Write a file so that others see all of it or nothing; False, with nothing left, if it could not be."""
    name = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            name = file.name
            file.write(data)
        os.replace(name, path)
    except OSError:
        if name:
            with contextlib.suppress(OSError):
                os.unlink(name)
        return False
    return True
