"""The scan itself: files in, one table out, whatever the files and the engine do on the way."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from outlive.arena.devices import Device
from outlive.cache import ResultCache
from outlive.fleet.engines import Engine, open_engine
from outlive.fleet.file_discovery import FoundFile
from outlive.fleet.local_engine import Examine
from outlive.fleet.regressions import ScanComparison, Tolerances, compare_rows
from outlive.fleet.rows import EngineError, Row, ScanOptions, versions
from outlive.fleet.scan_state import Journal, RowFile, ScanState, drop_old_rows, read_rows
from outlive.records import NOT_WRITTEN, in_document, written
from outlive.results import Listed
from outlive.units import plural


@dataclass(slots=True)
class ScanCounts:
    """The table in numbers, counted as rows come: it does not grow with them."""

    files: int = 0
    done: int = field(default=0, metadata=NOT_WRITTEN)
    resumed: int = 0
    from_cache: int = 0
    same: int = field(default=0, metadata=written("identical"))
    errors: int = field(default=0, metadata=written("with_errors"))
    outcomes: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    fits: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Count a row."""
        self.done += 1
        self.from_cache += row.from_cache
        self.same += row.same_as is not None
        self.errors += row.errors > 0
        self.outcomes[row.outcome] += 1
        if row.death is not None:
            self.causes[row.death.cause or "unknown"] += 1
        for code in row.codes:
            self.codes[code] += 1  # files that have it, not how often
        for item in row.devices:
            self.fits.setdefault(item.device, Counter())[item.word] += 1

    @property
    @in_document("outcomes")
    def sorted_outcomes(self) -> dict[str, int]:
        """How often each came, by name."""
        return dict(sorted(self.outcomes.items()))

    @property
    @in_document("causes")
    def most_causes(self) -> dict[str, int]:
        """How often each came, the most frequent first."""
        return dict(self.causes.most_common())

    @property
    @in_document("codes")
    def most_codes(self) -> dict[str, int]:
        """How many files have each, the most frequent first."""
        return dict(self.codes.most_common())

    @property
    def deaths(self) -> int:
        """How many died or hung."""
        return self.outcomes["died"] + self.outcomes["hung"]

    @property
    def too_big(self) -> int:
        """How many times a file is not known to fit a device that was asked about."""
        bad = ("may not fit", "does not fit", "refused")
        return sum(words[word] for words in self.fits.values() for word in bad)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRequest:
    """What was asked of every file."""

    run: bool
    delegates: bool
    devices: tuple[str, ...]
    accelerator: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Scan(Listed[Row]):
    """A finished scan. Iterate over it for its rows: they are read from disk, one at a time, by path.

    `written` are the tables that were written; with `with_rows` the rows are in its document.
    """

    kind: ClassVar[str] = "scan"
    tables = (("rows", Row),)
    row_names = ("name", "path")

    path: Path = field(metadata=NOT_WRITTEN)
    engine: str
    order: ScanOptions = field(metadata=NOT_WRITTEN)
    tally: ScanCounts = field(metadata=written(flat=True))
    with_rows: bool = field(default=False, metadata=NOT_WRITTEN)
    comparison: ScanComparison | None = field(default=None, metadata=written("against"))
    # Holds the folder of a scan that is kept nowhere else.
    keeper: Any = field(default=None, repr=False, metadata=NOT_WRITTEN)
    written: tuple[str, ...] = ()

    def _summary(self) -> tuple[str, str]:
        """How many files, and what came of them."""
        return plural(self.tally.files, "file"), f"{self.tally.deaths} died"

    @property
    @in_document()
    def versions(self) -> dict[str, str]:
        """The versions of what takes part."""
        return versions()

    @property
    @in_document()
    def asked(self) -> ScanRequest:
        """What was asked of every file."""
        order = self.order
        devices = tuple(device.name for device in order.devices)
        return ScanRequest(
            run=order.run, delegates=order.delegates, devices=devices, accelerator=order.accelerator
        )

    @property
    @in_document("rows", document=True)
    def shown_rows(self) -> tuple[Row, ...] | int:
        """The rows, or how many there are."""
        return tuple(self) if self.with_rows else len(self)

    def _rows(self, table: str) -> list[Row]:
        return list(self)

    def __iter__(self) -> Iterator[Row]:
        """The rows, in the order of their paths."""
        yield from RowFile(
            self.path
        )  # a generator has the scan, and so its folder, for as long as it is read

    def __len__(self) -> int:
        """How many rows there are."""
        return self.tally.done

    @property
    def outcome(self) -> str:
        """The worst that was seen; against an older scan only whether something got worse."""
        tally = self.tally
        if self.comparison is not None:
            return "errors" if self.comparison.worse else "clean"
        bad = ("broken", "unreadable", "refused", "too large", "lost", "failed")
        if tally.deaths:
            return "died"
        if tally.errors or any(tally.outcomes[name] for name in bad):
            return "errors"
        return "does not fit" if tally.too_big else "clean"

    def kept_aside(self) -> Scan:
        """The scan with its rows in a folder of its own, which is gone with the scan."""
        keeper = _Folder()
        path = shutil.move(self.path, Path(keeper.name) / "rows.jsonl")
        return replace(self, path=Path(path), keeper=keeper)


class _Folder:
    """A folder that is removed with the last reference to the scan."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="outlive-scan-")
        weakref.finalize(self, shutil.rmtree, self.name, True)


Tell = Callable[[ScanCounts], None]


def scan_files(
    files: Sequence[FoundFile],
    order: ScanOptions,
    *,
    examine: Examine,
    output: Path | None = None,
    resume: bool = False,
    on: Any = None,
    jobs: int | None = None,
    cache: ResultCache | None = None,
    against: Path | None = None,
    tolerances: Tolerances | None = None,
    tell: Tell = lambda tally: None,
) -> Scan:
    """Look at all files. `output` is where rows are written as they come; what is there is kept if `resume`.

    `examine` is what an engine process does with a task: a function that pickle finds by its name.
    """
    old = None if against is None else RowFile(against)
    keeper = _Folder() if output is None else None
    path = Path(keeper.name) / "rows.jsonl" if keeper is not None else output or Path()
    tally = ScanCounts(files=len(files))
    with open_engine(on, jobs) as engine:
        journal = Journal(path, resume)
        try:
            left, places = _left_over(files, order, path, tally) if resume else (list(files), {})
            tell(tally)
            state = ScanState(left, order, journal, cache, _counted(tally, tell), places)
            _drive(state, engine, examine)
        finally:
            journal.close()
        name = engine.name
    if tally.done != tally.files:
        raise EngineError(f"only {tally.done:,} of {tally.files:,} files have a row; --resume scans the rest")
    drop_old_rows(path)
    comparison = None if old is None else compare_rows(old, path, tolerances or Tolerances())
    return Scan(path=path, tally=tally, engine=name, order=order, comparison=comparison, keeper=keeper)


def _counted(tally: ScanCounts, tell: Tell) -> Callable[[Row], None]:
    def count(row: Row) -> None:
        tally.add(row)
        tell(tally)

    return count


def _left_over(
    files: Sequence[FoundFile], order: ScanOptions, path: Path, tally: ScanCounts
) -> tuple[list[FoundFile], dict[str, int]]:
    """The files that have no row yet, or have changed since; and where the rows of known bytes are."""
    from outlive.fleet.file_scan import stamp

    key = order.key
    rows: dict[str, tuple[int, int, int]] = {}
    for start, row in read_rows(path):
        rows.pop(row.path, None)
        # What was of the moment is tried again: lost, failed, hung, unreadable, too large, out of memory.
        if row.order_key == key and not row.passing:
            rows[row.path] = (start, row.file_bytes, row.mtime_ns)
    kept = {item.path for item in files if item.path in rows and rows[item.path][1:] == stamp(item.path)}
    places: dict[str, int] = {}
    for start, row in read_rows(path):
        if row.path in kept and rows[row.path][0] == start:
            tally.add(row)
            tally.resumed += 1
            if row.sha256 and row.same_as is None:
                places.setdefault(row.sha256, start)
    return [item for item in files if item.path not in kept], places


def _drive(state: ScanState, engine: Engine, examine: Examine) -> None:
    """Give tasks out until every file has its row."""
    while not state.done:
        rows = engine.results(examine, state.round())
        try:
            for row in rows:
                state.take(row)
        except EngineError:  # no process could be started
            state.raise_problem()
            raise
        except Exception as error:
            state.raise_problem()
            # Tasks do not raise: whatever comes here is a process or a connection that the engine lost.
            state.lost(error)
        finally:
            rows.close()  # type: ignore[attr-defined]
        state.raise_problem()


def partial_scan(path: Path) -> Scan:
    """What a scan that was interrupted has written so far."""
    drop_old_rows(path)
    tally = ScanCounts()
    names: dict[str, None] = {}
    ran = tried = False
    for row in RowFile(path):
        tally.add(row)
        names |= dict.fromkeys(item.device for item in row.devices)
        ran, tried = ran or row.run is not None, tried or bool(row.accelerators)
    tally.files = tally.done
    # Of a device only the name is needed here.
    rest: dict[str, Any] = {"kind": "board", "runtime": "litert", "ram_bytes": 1, "word": 64, "document": ""}
    devices = tuple(Device(name=name, title=name, **rest) for name in names)
    order = ScanOptions(devices=devices, run=ran, delegates=tried)
    return Scan(path=path, tally=tally, engine="interrupted", order=order)
