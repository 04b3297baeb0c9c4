"""What one file came to: a row of the table, as plain data that goes to JSON and comes back.

What a scan does with every file, and the task of one file.
"""

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import metadata
from typing import Any, ClassVar, Literal, get_args

from outlive.arena.devices import Device, find_device
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.names import shorten
from outlive.process.limits import Limits
from outlive.records import NOT_WRITTEN, document_of, read_result
from outlive.results import Summary
from outlive.rules import choose_rules

# How it ended, the best first. "sound" and "flawed" were not run: nothing is an error, or something is.
# "too large" was not run because it would not have fitted; "lost" took the process that looked at it along,
# and "failed" is a bug of ours.
Outcome = Literal[
    "ran", "sound", "flawed", "broken", "unreadable", "too large", "refused", "hung", "died", "lost", "failed"
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
# Those that say more about the moment than about the file.
PASSING: frozenset[str] = frozenset({"unreadable", "too large", "hung", "lost", "failed"})
# Deaths of the moment: what memory there was to be had then, and who was killed from outside.
_PASSING_CAUSE = "out-of-memory"
_PASSING_CODES = frozenset({"D501", "D502", "D508"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSummary:
    """A finding in a line."""

    code: str
    name: str
    severity: str
    headline: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFit:
    """Whether it fits a device: fits, tight, may not fit, does not fit, refused, or "not planned"."""

    device: str
    word: str
    needed_bytes: int | None = None
    margin_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSummary:
    """An output on the usual seeded inputs: its digest, and a few of its numbers to compare roughly."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    sha256: str
    minimum: float | None = None
    maximum: float | None = None
    samples: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What a run took: the median call after the first, the first, and the most private memory it added."""

    milliseconds: float | None
    first_milliseconds: float | None
    peak_bytes: int | None
    outputs: tuple[OutputSummary, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeathSummary:
    """How it died, hung or was refused, as the diagnosis has it."""

    cause: str
    code: str
    headline: str
    stage: str
    signal: str | None = None
    op: str = ""
    works_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorSummary:
    """What an accelerator took of it, and did."""

    name: str
    outcome: str
    ops_taken: int | None = None
    ops_total: int = 0
    milliseconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Row(Summary):
    """The result for one file. Unknown numbers are None; `note` says why in words.

    `name` is the path below the folder that was asked for, `same_as` an identical file that was scanned in
    its place, `codes` how often each rule spoke; `findings` holds the first of them.
    """

    kind: ClassVar[str] = "scan-row"

    path: str
    name: str
    outcome: Outcome
    sha256: str = ""
    file_bytes: int = 0
    mtime_ns: int = 0
    order_key: str = ""
    same_as: str | None = None
    from_cache: bool = False
    changed: bool = False
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    codes: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[FindingSummary, ...] = ()
    operators: int | None = None
    peak_bytes: int | None = None
    total_bytes: int | None = None
    arena_bytes: int | None = None
    exact: bool | None = None
    bound: str | None = None  # of the peak: upper, lower, estimate
    devices: tuple[DeviceFit, ...] = ()
    run: RunSummary | None = None
    death: DeathSummary | None = None
    accelerators: tuple[AcceleratorSummary, ...] = ()
    note: str = ""
    seconds: float = 0.0
    host: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    number: int = field(default=-1, metadata=NOT_WRITTEN)  # the task it answers

    def _summary(self) -> tuple[str, str]:
        """The file, and what came of it."""
        return shorten(self.name, 80), self.outcome

    @property
    def died(self) -> bool:
        """True if running it ended its process, or had to be ended."""
        return self.outcome in ("died", "hung")

    @property
    def passing(self) -> bool:
        """True if it says more about the moment than about the file: it is neither kept nor resumed."""
        death = self.death
        starved = death is not None and (death.cause == _PASSING_CAUSE or death.code in _PASSING_CODES)
        return self.outcome in PASSING or self.changed or starved

    @property
    def fits(self) -> bool:
        """True unless a device that was asked about is too small for it, or may be."""
        return not any(item.word in ("may not fit", "does not fit", "refused") for item in self.devices)

    def line(self) -> bytes:
        """The row as a line of JSON."""
        return json.dumps(document_of(self), separators=(",", ":")).encode("ascii") + b"\n"


def read_row(line: bytes) -> Row:
    """The row of a line; ValueError for anything that is none."""
    try:
        return row_of(json.loads(line))
    except RecursionError as error:
        raise ValueError(f"not a row of a scan: {error!r:.200}") from error


def row_of(document: Any) -> Row:
    """The row of a document; ValueError for anything that is none."""
    row: Row = read_result(document, Row)
    return row


# What a row says depends on these; another version may say something else.
_PACKAGES = ("outlive", "ai-edge-litert", "ai-edge-litert-nightly", "numpy")


class EngineError(ValueError):
    """The engine that was asked for is not to be had, or is gone; the text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOptions:
    """What is to be found out about every file.

    `memory_bytes` is what models that run may add on one machine, one or several; None is what it has.
    """

    devices: tuple[Device, ...] = ()
    run: bool = False
    delegates: bool = False
    accelerator: str = "cpu"
    repeat: int = 5
    seconds: float = 30.0
    memory_bytes: int | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """A digest of all that decides what a row says, beside the file: wishes, versions, this machine."""
        wishes = asdict(self)
        place: list[object] = [platform.machine()]
        if self.run or self.delegates:
            place += [platform.node(), os.cpu_count()]
        else:
            wishes["memory_bytes"] = None  # nothing is run that could need it
        text = json.dumps([wishes, versions(), place], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTask:
    """One file's turn. `path` is as the user gave it, `place` where it is, wherever the task is done.

    `sha256` is empty if the coordinator could not read the file.
    """

    number: int
    path: str
    place: str
    name: str
    sha256: str
    order: ScanOptions
    order_key: str
    owner: int = 0  # the process that waits for it, where it is on the same machine


@cache
def versions() -> dict[str, str]:
    """The versions of what takes part, as installed here."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def make_options(
    devices: Sequence[str | Device] = (), memory: str | int | None = None, **others: Any
) -> ScanOptions:
    """The options in a user's words; ValueError for unknown devices and rules, and for bad numbers."""
    found = {one.name: one for one in (find_device(d) if isinstance(d, str) else d for d in devices)}
    made = ScanOptions(devices=tuple(found.values()), **others)
    choose_rules(made.select, made.ignore)
    limits = Limits(memory=memory, seconds=made.seconds)
    if made.repeat < 1:
        raise ValueError(f"a run needs at least one call, not {made.repeat}")
    if made.accelerator not in ACCELERATORS:
        known = ", ".join(ACCELERATORS)
        raise ValueError(f"unknown accelerator {made.accelerator!r}; choose from {known}")
    return replace(made, memory_bytes=limits.memory_bytes)
