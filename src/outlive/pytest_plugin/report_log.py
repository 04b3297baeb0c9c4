"""What a worker's session tells: a file of small records, which can be read when the worker is gone.

Only plain values are written and read: text, numbers, lists, tuples and dictionaries of them.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

# The files that a session captures output in, in the order pytest opens them.
CAPTURED = ("stdout", "stderr")
_NAME, _TERMINAL = "told", "terminal"
_PLAIN = (str, int, float, bool, bytes, type(None))
_LEAST_LINES = 2
# The last of what a dead test had printed.
_MOST_CAPTURED_BYTES = 1 << 16


def open_terminal(folder: str) -> TextIO:
    """The file that stands for a worker's terminal."""
    path = os.path.join(folder, _TERMINAL)
    return open(path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)


class ReportWriter:
    """The worker's end."""

    def __init__(self, folder: str) -> None:
        """Nothing has happened."""
        # Appending, because the reader empties it; open as long as we live.
        self._file = open(os.path.join(folder, _NAME), "ab", buffering=0)  # noqa: SIM115

    def write(self, kind: str, *values: Any) -> None:
        """Append a record: a phase that begins, a report, a warning, or coverage data."""
        self._file.write(pickle.dumps((kind, *map(plain, values)), 5))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTest:
    """What was told of one test: reports and warnings in their order, and the phase that was never ended.

    `has_begun` is false if not even the first phase was told.
    """

    reports: tuple[dict[str, Any], ...]
    warnings: tuple[dict[str, Any], ...]
    coverage: tuple[bytes, ...]
    phase: str
    began: float
    has_begun: bool


class ReportLog:
    """The main session's end: a folder of its own for each worker."""

    def __init__(self, folder: Path) -> None:
        """The folder is there, and empty."""
        self.folder = folder

    def empty(self) -> None:
        """Forget all records: those from now on belong to another test."""
        for name in (_NAME, _TERMINAL):
            with contextlib.suppress(FileNotFoundError):
                os.truncate(self.folder / name, 0)

    def read(self) -> RecordedTest:
        """All that was told; a record that was cut off by a death is left out."""
        rows = list(_records(self.folder / _NAME))
        reports = [row[1] for row in rows if row[0] == "report"]
        begun = [row for row in rows if row[0] == "phase"]
        # A subtest has a report of its own, and is no phase.
        ended = {report.get("when") for report in reports if report.get("$report_type") == "TestReport"}
        phase, began = (begun[-1][1], begun[-1][2]) if begun else ("setup", time.time())
        return RecordedTest(
            reports=tuple(reports),
            warnings=tuple(row[1] for row in rows if row[0] == "warning"),
            coverage=tuple(row[1] for row in rows if row[0] == "coverage"),
            phase=phase if phase not in ended else _after(phase),
            began=began,
            has_begun=bool(begun),
        )

    def captured(self) -> dict[str, str]:
        """What the phase that never ended had printed, by stream."""
        found = {name: text for name in CAPTURED if (text := _tail(self.folder / name))}
        # A line or two are the reporter's dots; a plugin that ends the process says more.
        terminal = _tail(self.folder / _TERMINAL).strip()
        return found if terminal.count("\n") < _LEAST_LINES else {**found, _TERMINAL: terminal}


def _after(phase: str) -> str:
    """A death between two phases is the next one's."""
    return {"setup": "call", "call": "teardown"}.get(phase, "teardown")


def _records(path: Path) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    try:
        file = io.BytesIO(path.read_bytes())
    except OSError:
        return rows
    while True:
        try:
            rows.append(_PlainUnpickler(file).load())
        except Exception:  # its end, or a record that was never finished
            return rows


class _PlainUnpickler(pickle.Unpickler):
    """Makes nothing but plain values."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_CAPTURED_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def plain(value: Any) -> Any:
    """The value with everything that is not plain told as text."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else repr(value)
