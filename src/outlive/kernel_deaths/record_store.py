"""Where records lie: a folder of the user's own, a few records, a few kilobytes each."""

from __future__ import annotations

import ast
import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from outlive.kernel_deaths.record import Record
from outlive.meter import process_start, read_boot_id
from outlive.process.child.watcher import death_record, notes_file
from outlive.process.operating_system import lock_file

MOST_RECORDS = 20
_FAULT_BYTES = 1 << 16
_OFF_FILE = "off"
_KILLED = 9
_OPEN, _NEW, _SHOWN = ".open", ".json", ".shown.json"
# A folder of another system that has not changed for so long is of no use any more.
_STRANGERS_S = 30 * 86_400
# How long a recorder may take to write down an end that it has just seen.
_PATIENCE_S, _GRACE_S, _GLANCE_S = 3.0, 0.3, 0.02


def home() -> Path:
    """The folder: OUTLIVE_BLACKBOX_DIR, or where programs of this system keep their state."""
    named = os.environ.get("OUTLIVE_BLACKBOX_DIR")
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "outlive" / "blackbox"
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "outlive" / "blackbox"


def is_off() -> bool:
    """Whether the user wants no records: OUTLIVE_BLACKBOX=off, or `outlive blackbox off`."""
    word = os.environ.get("OUTLIVE_BLACKBOX", "").lower()
    return word in ("off", "0", "no") or os.path.exists(home() / _OFF_FILE)


def switch(*, on: bool) -> None:
    """Record from the next kernel on, or never."""
    _make_home()
    if on:
        (home() / _OFF_FILE).unlink(missing_ok=True)
    else:
        (home() / _OFF_FILE).touch(mode=0o600)


def open_folder(about: Mapping[str, Any]) -> Path:
    """A new folder for a kernel that is to be watched, with its empty notes."""
    _make_home()
    folder = _new_folder(f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}")
    notes = os.open(folder / notes_file.NOTES_FILE, os.O_CREAT | os.O_RDWR, 0o600)
    os.truncate(notes, notes_file.SIZE)
    os.close(notes)
    notes_file.write_private(str(folder / notes_file.ABOUT_FILE), dict(about))
    return folder


def _new_folder(stem: str) -> Path:
    """A folder of a name that no record has: a server may start several kernels within a second."""
    for count in range(1000):
        name = f"{stem}-{count:03}" if count else stem
        folder = home() / f"{name}{_OPEN}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            # Asked only now: the record of this name is written before its folder goes.
            if load(name) is None:
                return folder
            folder.rmdir()
    raise FileExistsError(f"too many kernels within a second: {stem}")


def names() -> list[str]:
    """The names of all records, the newest first."""
    return sorted({_name(path) for path in _files()}, reverse=True)


def load(name: str) -> Record | None:
    """The record of this name; None if there is none, or it cannot be read."""
    for ending in (_NEW, _SHOWN):
        path = home() / f"{name}{ending}"
        if path.parent == home() and path.is_file():
            return _read(path, name)
    return None


def take_unshown(wanted: Mapping[str, str]) -> Record | None:
    """The newest death of this notebook that was not shown yet; it counts as shown from now on.

    `wanted` names the session, the notebook and the folder of the kernel that asks.
    """
    for path in sorted(_files(), reverse=True):
        if path.name.endswith(_SHOWN):
            continue
        record = _read(path, _name(path))
        if record is None or not _is_same_notebook(record, wanted):
            continue
        try:
            path.rename(path.with_name(_name(path) + _SHOWN))
        except OSError:  # another kernel was quicker
            continue
        return record
    return None


def clear() -> int:
    """Remove all records; how many there were."""
    paths = _files()
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def tidy() -> None:
    """Finish what recorders could not, and keep the newest records only."""
    if not os.path.isdir(home()):
        return
    for folder in home().glob(f"*{_OPEN}"):
        with contextlib.suppress(OSError):
            _settle(folder)
    old = sorted(_files(), reverse=True)[MOST_RECORDS:]
    # A draft is renamed at once; an old one is of a recorder that was killed over it.
    old += [path for path in home().glob("*.draft") if time.time() - path.stat().st_mtime > _PATIENCE_S]
    for path in old:
        path.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """Wait for a recorder that is about to write; write what is left if it is gone too."""
    about = death_record.read_json(folder / notes_file.ABOUT_FILE)
    alive = process_start(about.get("pid", 0)) == about.get("pid_start", -1)
    if alive or not about:
        return
    begun = time.monotonic()
    while folder.exists() and time.monotonic() - begun < (_PATIENCE_S if _is_held(folder) else _GRACE_S):
        time.sleep(_GLANCE_S)
    if not folder.exists() or _is_held(folder):
        return
    if about.get("boot") != read_boot_id() and time.time() - about.get("started", 0) < _STRANGERS_S:
        return  # before a restart of the system, or on another that shares this folder and may be at work
    record = _what_is_left(folder, about)
    if record is not None:
        notes_file.write_private(str(folder).removesuffix(_OPEN) + _NEW, record)
    death_record.remove_folder(str(folder))


def _what_is_left(folder: Path, about: dict[str, Any]) -> dict[str, Any] | None:
    """The record of a kernel that took its recorder along; None if it was idle, or the system went down."""
    with (folder / notes_file.NOTES_FILE).open("rb") as file:
        notes = file.read(notes_file.SIZE).ljust(notes_file.SIZE, b"\0")
    busy = bool(notes_file.get_word(notes, notes_file.BUSY))
    if not busy or death_record.was_normal(notes, None) or about.get("boot") != read_boot_id():
        return None
    faults = (folder / notes_file.FAULTS_FILE).read_text(errors="replace")[:_FAULT_BYTES]
    began_ns = notes_file.get_word(notes, notes_file.BEGAN_NS)
    last_s = max(path.stat().st_mtime for path in folder.iterdir())
    return {
        **about,
        **_literal(folder / notes_file.TIMELINE_FILE),
        "ended": last_s,
        "busy": True,
        "cell": {**notes_file.get_cell(notes), "seconds": round(max(0.0, last_s - began_ns / 1e9), 3)},
        "fault_trace": faults,
        "evidence": death_record.read_evidence(folder, began_ns),
        "lost": True,
    }


def _is_held(folder: Path) -> bool:
    """Whether a recorder is at work on it: it holds a lock on the notes for as long as it lives."""
    try:
        with (folder / notes_file.NOTES_FILE).open("rb") as file:
            lock_file(file, wait=False)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _is_same_notebook(record: Record, wanted: Mapping[str, str]) -> bool:
    """Same connection file: restarted. Otherwise same notebook, or same folder where notebooks have no names.

    An idle kernel that was simply killed is news to its successor only: managers end kernels like that.
    """
    if record.session and record.session == wanted["session"]:
        return True
    if record.status == _KILLED and not record.busy and not record.was_short_of_memory:
        return False
    if record.notebook != wanted["notebook"]:
        return False
    return bool(record.notebook) or record.folder == wanted["folder"]


def _make_home() -> None:
    home().mkdir(mode=0o700, parents=True, exist_ok=True)


def _files() -> list[Path]:
    return list(home().glob(f"*{_NEW}"))


def _name(path: Path) -> str:
    return path.name.removesuffix(_NEW).removesuffix(".shown")


def _read(path: Path, name: str) -> Record | None:
    row = death_record.read_json(path)
    return Record.from_json(row, name) if row else None


def _literal(path: Path) -> dict[str, Any]:
    """What a recorder has saved of a timeline; empty if it did not come to that."""
    try:
        content = ast.literal_eval(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return {}
    return content if isinstance(content, dict) else {}


def every() -> Iterator[Record]:
    """All records that can be read, the newest first."""
    return (record for name in names() if (record := load(name)) is not None)
