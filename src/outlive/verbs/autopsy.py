"""`autopsy`: what a death outside outlive left behind, and what it means."""

import os
import stat
from dataclasses import replace
from typing import BinaryIO

from outlive.diagnosis.autopsy import Autopsy, read_remains

Remains = str | bytes | os.PathLike[str] | BinaryIO
_CORE_BYTES = 64 << 20


def autopsy(text_or_path: Remains, model: str | os.PathLike[str] | None = None) -> Autopsy:
    """Explain a crash from a log, a core file or a pasted message: `.cause`, `.clues`, `.findings`.

    Give the path of a log or core file, or the text itself. Bytes are the content of either; a file object is
    read to its end, or until it falls silent. With `model`, or if the log names a model that exists, the file
    is checked and compared with the log. `.cause` is empty if nothing in it is known. Raises OSError for a
    file that cannot be read.

    >>> outlive.autopsy("Out of memory: Killed process 4242 (python3)").cause
    'out-of-memory'
    """
    path = _path(text_or_path)
    if path is not None:
        data, unread = _content(path)
        source, folder = path, os.path.dirname(path)
    else:
        data, unread = _given(text_or_path)
        source, folder = "the given text" if isinstance(text_or_path, (str, bytes)) else "standard input", ""
    found = replace(read_remains(data, path, unread), source=source)
    return _beside_model(found, data, folder, None if model is None else os.fspath(model))


def _content(path: str) -> tuple[bytes, str]:
    """What is read of a file, and what was left out; of a core file only its start is needed."""
    from outlive.diagnosis.corefile import is_core
    from outlive.diagnosis.log_text import read_bounded, read_stream

    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return read_stream(file)
        if is_core(file.read(64)):
            file.seek(0)
            return file.read(_CORE_BYTES), ""
        file.seek(0)
        return read_bounded(file, status.st_size)


def _given(given: Remains) -> tuple[bytes, str]:
    from outlive.diagnosis.log_text import read_stream

    if isinstance(given, str):
        return given.encode(errors="replace"), ""
    if isinstance(given, (bytes, bytearray, memoryview)):
        return bytes(given), ""
    assert not isinstance(given, os.PathLike)
    return read_stream(given)


def _beside_model(found: Autopsy, data: bytes, folder: str, model: str | None) -> Autopsy:
    """With what the model's file says: the one that was given, or the one that the log names."""
    from outlive.diagnosis.log_model import named_model, with_model

    if found.core is not None:
        text = " ".join((found.core.command, *found.core.model_files))
    else:
        text = data[-(1 << 20) :].decode("utf-8", errors="replace")
    path = model if model is not None else named_model(text, folder)
    if not path:
        return found
    found = with_model(found, path)
    if found.cause != "out-of-memory":
        return found
    return _with_plan(found, path)


def _with_plan(found: Autopsy, path: str) -> Autopsy:
    """With the memory that the plan of the model says it needs."""
    from outlive.errors import OutliveError
    from outlive.units import format_bytes
    from outlive.verbs.plan import plan

    micro = found.code == "M201"
    try:
        planned = plan(path, "tflm" if micro else None)
    except (OutliveError, ValueError):
        return found
    needed = planned.min_arena_bytes if micro else planned.peak_bytes
    if needed is None:
        return found
    what = "an arena of" if micro else "of memory of its own"
    words = f"{what} {needed:,} bytes" if micro else f"{format_bytes(needed)} {what}"
    return replace(found, meaning=f"{found.meaning}. According to the plan, the model needs {words}")


def _path(given: Remains) -> str | None:
    """The path that is meant; None for text. A word with a dot or a slash in it is a path, there or not."""
    if isinstance(given, os.PathLike):
        return os.fspath(given)
    if not isinstance(given, str) or len(given.splitlines()) > 1:
        return None
    is_word = len(given.split()) == 1 and any(mark in given for mark in "./\\")
    return given if is_word or os.path.isfile(given) else None
