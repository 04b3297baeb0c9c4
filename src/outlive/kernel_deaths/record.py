"""What is left of a kernel's death, as plain data; and the same as a `Flight`, for the rules to judge."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from outlive.finding import Finding
from outlive.meter import Point, Timeline
from outlive.process.flight import Flight, StageSeconds
from outlive.process.flight_recorder import seen_of_end
from outlive.records import NOT_WRITTEN, in_document
from outlive.results import Listed, Result
from outlive.units import plural

# faulthandler's first line, CPython Modules/faulthandler.c: "Fatal Python error: Segmentation fault".
_DUMPED = re.compile(r"^Fatal Python error: (.+)$", re.MULTILINE)
_DUMP_SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Aborted": "SIGABRT",
    "Floating point exception": "SIGFPE",
    "Floating-point exception": "SIGFPE",
    "Bus error": "SIGBUS",
    "Illegal instruction": "SIGILL",
}
_SIGNAL_BITS = 0x7F


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A kernel's death: what it was doing, and what its recorder saw.

    `status` is the raw wait status and None where it could not be learned; `exited` the code given to
    os._exit. `memory_limit` names the limit that `memory_bytes` is: the machine's, or its cgroup's. `lost` is
    true if the recorder went with the kernel, so that the end itself was not seen. A Jupyter server knows the
    `kernel` by its id, the request that ran (`cell_message`) and the notebook's own name for the cell
    (`cell_id`); `restarted` is a kernel that it had to end because a cell did not, and `activity` whether
    that cell computed or waited. `evidence` is what a tracer saw when a signal killed it.
    """

    name: str = ""
    pid: int | None = None
    session: str = ""
    notebook: str = ""
    folder: str = ""
    python: str = ""
    started: float = 0.0
    ended: float = 0.0
    busy: bool = False
    cell_number: int | None = None
    cell_source: str = ""
    cell_seconds: float = 0.0
    cell_files: dict[str, str] = field(default_factory=dict)
    status: int | None = None
    exited: int | None = None
    oom_kills: tuple[int, int] | None = None
    before_bytes: int = 0
    memory_bytes: int | None = None
    memory_limit: str = ""
    timeline: tuple[Point, ...] = ()
    stderr_tail: str = ""
    fault_trace: str = ""
    lost: bool = False
    kernel: str = ""
    cell_message: str = ""
    cell_id: str = ""
    restarted: bool = False
    activity: dict[str, Any] = field(default_factory=dict)
    evidence: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, row: Mapping[str, Any], name: str = "") -> Record:
        """The record in a JSON document; fields that are missing or of another type get their defaults."""
        cell = row.get("cell")
        flat = (
            {**row, **{f"cell_{key}": value for key, value in cell.items()}}
            if isinstance(cell, dict)
            else row
        )
        read = {one.name: _READERS[str(one.type)](flat.get(one.name)) for one in fields(cls)}
        return cls(**{**read, "name": name})

    @property
    def cell(self) -> str:
        """The cell as people call it: `cell [12]`."""
        return "a cell" if self.cell_number is None else f"cell [{self.cell_number}]"

    @property
    def was_short_of_memory(self) -> bool:
        """Whether the system killed for memory around the end."""
        return self.oom_kills is not None and self.oom_kills[1] > self.oom_kills[0]

    def to_flight(self) -> Flight:
        """The record as every death is recorded; files of cells in the stack get the cells' numbers."""
        name, exit_code = self._end()
        untraced = self.evidence.get("untraced")
        return Flight(
            died=True,
            stage="cell" if self.busy else "between cells",
            signal=name,
            exit_code=exit_code,
            peak_bytes=max((point.bytes for point in self.timeline), default=None) if self.busy else None,
            baseline_bytes=self.before_bytes,
            timeline=self.timeline,
            stages=(StageSeconds("cell", self.cell_seconds),) if self.busy else (),
            stderr_tail=self.stderr_tail,
            fault_trace=self._named_trace(),
            oom_kills=self.oom_kills,
            ended_by="restart" if self.restarted else "",
            activity=self.activity,
            machine={self.memory_limit or "total_bytes": self.memory_bytes} if self.memory_bytes else {},
            runtime={"runtime": "kernel", "python": self.python},
            untraced=untraced if isinstance(untraced, str) else "",
            pid=self.pid,
            **seen_of_end(self.evidence, name),
        )

    def _end(self) -> tuple[str | None, int | None]:
        """Signal and exit code: by the exit status, or else by what the kernel itself noted last."""
        if self.status is not None:
            number = self.status & _SIGNAL_BITS
            return (_signal_name(number), None) if number else (None, self.status >> 8 & 0xFF)
        if self.exited is not None:
            return None, self.exited
        dumped = _DUMPED.search(self.fault_trace)
        return (_DUMP_SIGNALS.get(dumped[1].strip()) if dumped else None), None

    def _named_trace(self) -> str:
        trace = self.fault_trace
        for path, cell in self.cell_files.items():
            trace = trace.replace(f'"{path}"', f'"{cell}"')
        return trace


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSeen:
    """The cell that ran when the kernel died."""

    number: int | None
    source: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KernelDeath(Result):
    """A kernel's death, and what the rules make of it."""

    kind: ClassVar[str] = "blackbox"

    record: Record = field(metadata=NOT_WRITTEN)
    finding: Finding = field(metadata=NOT_WRITTEN)

    @property
    def name(self) -> str:
        """The record's name, which `outlive blackbox` takes."""
        return self.record.name

    @property
    @in_document()
    def findings(self) -> tuple[Finding, ...]:
        """The finding, as other documents have theirs."""
        return (self.finding,)

    def _summary(self) -> tuple[str, str]:
        """The record's name, the cell and the headline."""
        about = f"{self.record.name}, {self.record.cell}"
        return about, f"{self.finding.code} {self.finding.headline}"

    @property
    @in_document(flat=True)
    def place(self) -> DeathPlace:
        """Where and when it died."""
        record = self.record
        return DeathPlace(
            name=record.name,
            notebook=record.notebook,
            folder=record.folder,
            started=record.started,
            ended=record.ended,
            cell=CellSeen(number=record.cell_number, source=record.cell_source, seconds=record.cell_seconds),
            recorder_lost=record.lost,
        )

    @property
    @in_document(flat=True)
    def flight(self) -> Flight:
        """The record as that of any death."""
        return self.record.to_flight()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeathPlace:
    """Where and when a kernel died."""

    name: str
    notebook: str
    folder: str
    started: float
    ended: float
    cell: CellSeen
    recorder_lost: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KernelDeaths(Listed[KernelDeath]):
    """The deaths that were asked for, the newest first: iterate over it.

    `removed` records were cleared, if that was asked for; `recording` is False while recording is off.
    """

    kind: ClassVar[str] = "blackbox"
    outcome: ClassVar[str] = "clean"  # whatever there was to find out was found out
    tables = (("deaths", KernelDeath),)

    action: str = field(default="last", metadata=NOT_WRITTEN)
    deaths: tuple[KernelDeath, ...] = ()
    removed: int = field(default=0, metadata=NOT_WRITTEN)
    recording: bool = field(default=True, metadata=NOT_WRITTEN)

    @property
    def as_document(self) -> KernelDeaths | KernelDeath:
        """What its document is about: all deaths if they were listed, else the one that was asked for."""
        return self if self.action == "list" else self.deaths[0]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One for each death."""
        return tuple(death.finding for death in self.deaths)

    def _summary(self) -> tuple[str, str]:
        """How many, and the newest."""
        newest = f"{self.deaths[0].record.cell}, {self.deaths[0].finding.headline}" if self.deaths else ""
        return plural(len(self.deaths), "death"), newest


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _points(rows: Any) -> tuple[Point, ...]:
    if not isinstance(rows, list):
        return ()
    return Timeline.from_json([row for row in rows if isinstance(row, dict)]).points


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _pair(value: Any) -> tuple[int, int] | None:
    if isinstance(value, (list, tuple)) and len(value) == 2 and all(isinstance(item, int) for item in value):
        return value[0], value[1]
    return None


def _texts(value: Any) -> dict[str, str]:
    return {str(key): str(text) for key, text in value.items()} if isinstance(value, dict) else {}


# How a field of `Record` is read from JSON, by its type.
_READERS: dict[str, Callable[[Any], Any]] = {
    "str": lambda value: value if isinstance(value, str) else "",
    "float": lambda value: float(value) if isinstance(value, (int, float)) else 0.0,
    "bool": lambda value: value is True,
    "int": lambda value: _integer(value) or 0,
    "int | None": _integer,
    "tuple[int, int] | None": _pair,
    "tuple[Point, ...]": _points,
    "dict[str, str]": _texts,
    "dict[str, Any]": lambda value: value if isinstance(value, dict) else {},
}
