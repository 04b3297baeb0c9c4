"""Writes down how a kernel ended: what it was doing, what was seen; nothing at all after a normal end."""

from __future__ import annotations

import os
import time

from . import notes_file

# Not imported at run time: it would take a megabyte, in a process that is to be small.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .observation import WatchedKernel

_FAULT_BYTES, _LARGEST_BYTES = 1 << 15, 1 << 20
# Signals by which those who manage programs ask an idle one to leave: SIGHUP, SIGINT, SIGTERM.
_POLITE = (1, 2, 15)


def write_end(kernel: WatchedKernel, status: int | None, more: dict[str, Any] | None = None) -> str:
    """Write the record of a death beside the folder, and remove the folder in any case.

    `more` is what only a server knows; it is a record of its own kind that the kernel hung and was restarted.
    The record's name, empty after a normal end.
    """
    notes, folder = kernel.notes, kernel.folder
    faults = _head(os.path.join(folder, notes_file.FAULTS_FILE))
    more = dict(more or {})
    name = ""
    if more.get("restarted") or not was_normal(notes, status):
        record = compose(kernel, status, faults.decode("utf-8", errors="replace"))
        record["cell"] = {**record["cell"], **more.pop("cell", {})}
        name = folder[: -len(".open")]
        notes_file.write_private(name + ".json", {**record, **more})
    _copy(faults, kernel.fault_copy)
    remove_folder(folder)
    return os.path.basename(name)


def was_normal(notes: Any, status: int | None) -> bool:
    """Whether the kernel ended as it was meant to: asked to, by itself, or idle and politely ended."""
    ending = notes_file.get_word(notes, notes_file.ENDING)
    if ending in (notes_file.ASKED, notes_file.LEFT, notes_file.ORPHANED):
        return True
    idle = not notes_file.get_word(notes, notes_file.BUSY)
    return idle and ending == notes_file.LIVES and status in (0, *_POLITE)


def compose(kernel: WatchedKernel, status: int | None, faults: str) -> dict[str, Any]:
    """The record, plain data: what the kernel said it was doing, and all that was seen of its end."""
    notes = kernel.notes
    exited = notes_file.get_word(notes, notes_file.ENDING) == notes_file.EXITED
    rows = kernel.memory.rows(kernel.began_s)
    return {
        **read_json(os.path.join(kernel.folder, notes_file.ABOUT_FILE)),
        "ended": time.time(),
        "busy": kernel.busy,
        "cell": {**notes_file.get_cell(notes), "seconds": round(time.time() - kernel.began_s, 3)},
        "status": status,
        "exited": notes_file.get_word(notes, notes_file.EXIT_CODE) if exited else None,
        "oom_kills": kernel.kills.around_now(),
        "before_bytes": kernel.memory.before_bytes,
        "timeline": rows,
        "stderr_tail": kernel.tee.tail(),
        "fault_trace": faults,
        "evidence": read_evidence(kernel.folder, kernel.began_ns),
    }


def read_evidence(folder: str | os.PathLike[str], began_ns: int) -> dict[str, Any]:
    """What a tracer saw of the end; a signal that was survived before this cell is not part of it."""
    found = read_json(os.path.join(folder, notes_file.EVIDENCE_FILE))
    seen_ns = found.get("seen_ns", began_ns)
    return found if isinstance(seen_ns, int) and seen_ns >= began_ns else {}


def save_timeline(kernel: WatchedKernel) -> None:
    """Put on disk what would be lost with the recorder: a Python literal, which needs no import."""
    known = {
        "before_bytes": kernel.memory.before_bytes,
        "timeline": kernel.memory.rows(kernel.began_s),
        "oom_kills": kernel.kills.around_now(),
        "stderr_tail": kernel.tee.tail(),
    }
    try:
        notes_file.write(os.path.join(kernel.folder, notes_file.TIMELINE_FILE), repr(known))
    except OSError:
        return  # a full disk: the rest of the watch goes on


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The object in a JSON file; empty if there is none, or it is larger than any that is written here."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file) if os.stat(path).st_size <= _LARGEST_BYTES else {}
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def remove_folder(folder: str) -> None:
    """Remove a folder of plain files."""
    try:
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except OSError:  # another process removes it too
        pass


def _copy(faults: bytes, target: int) -> None:
    """Give a stack dump to whom the user wanted to have it."""
    try:
        if faults and target >= 0:
            os.write(target, faults)
    except OSError:
        pass


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_FAULT_BYTES)
    except OSError:
        return b""
