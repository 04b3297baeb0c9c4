"""Looks at one file: has it read, checked, planned, and run and diagnosed if asked to. One Row comes back.

This is what engine processes do, on this machine or another. Nothing a file does is raised. How a model is
read and examined is handed in.

Who may run now: models run side by side only while their planned memory fits the machine.

A file that all engine processes of a user on a machine share says who runs and who waits. First come, first
served: a large model waits until there is room and is not overtaken for ever by small ones. Each holds a lock
on a file of its own for as long as it lives; the next one removes entries without a lock.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import stat
import statistics
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from outlive.arena.budget import needed_bytes
from outlive.arena.plan import Verdict
from outlive.diagnosis.diagnosis_record import Diagnosis
from outlive.diagnosis.examination import Examination
from outlive.errors import shortage
from outlive.finding import Finding, Severity
from outlive.fleet.rows import (
    AcceleratorSummary,
    DeathSummary,
    DeviceFit,
    FindingSummary,
    Outcome,
    OutputSummary,
    Row,
    RunSummary,
    ScanOptions,
    ScanTask,
    versions,
)
from outlive.meter import read_machine
from outlive.model import Reading
from outlive.process.flight import Flight
from outlive.process.operating_system import lock_file, open_private, unlock_file, user_id
from outlive.records import copy_fields
from outlive.rules import file_errors
from outlive.units import format_bytes

# Left to the system and to the processes that look at models.
_KEPT_SHARE = 0.1
_KEPT_BYTES = 200_000_000
_LEAST_BYTES = 64_000_000
_GLANCE_S = 0.05
_MOST_BYTES = 1 << 20
_TICKETS = "tickets.json"
_TOKEN = re.compile(r"[0-9a-f]{32}")


class QueueEntry(NamedTuple):
    """One that runs or waits: its token, its place in the queue, and the memory it plans to use."""

    token: str
    ticket: int
    bytes: int
    running: bool


def usable_bytes() -> int | None:
    """What all models that run at the same time may add on this machine; None if it does not say."""
    usable = read_machine().usable_bytes()
    if usable is None:
        return None
    return max(int(usable - max(usable * _KEPT_SHARE, _KEPT_BYTES)), _LEAST_BYTES)


@contextmanager
def admitted(planned_bytes: int, budget_bytes: int | None, folder: Path | None = None) -> Iterator[None]:
    """Wait until there is room for a model of this size, and hold it for the time of the block."""
    queue = None if budget_bytes is None else _open(folder)
    if queue is None or budget_bytes is None:
        yield
        return
    with queue, ExitStack() as held:
        # Where nothing can be written, there is no queue to wait in.
        with contextlib.suppress(OSError):
            token = held.enter_context(queue.ticket())
            while not queue.may_run(token, planned_bytes, budget_bytes):
                time.sleep(_GLANCE_S)
        yield


class AdmissionQueue:
    """The file that says who runs and who waits. Use it as a context: it is closed at the end."""

    def __init__(self, file: IO[str], folder: Path) -> None:
        """Take a file that is open for reading and writing, and the folder that locks are in."""
        self._file, self._folder = file, folder

    def __enter__(self) -> AdmissionQueue:
        """The queue itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def ticket(self) -> Iterator[str]:
        """A token that is known to live for the time of the block; the room it took is given back then."""
        token = uuid.uuid4().hex
        path = self._folder / token
        lock = open_private(path, os.O_CREAT | os.O_EXCL)
        try:
            lock_file(lock)
            yield token
        finally:
            with contextlib.suppress(OSError), self._locked() as entries:
                entries[:] = [entry for entry in entries if entry.token != token]
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(lock)

    def may_run(self, token: str, planned_bytes: int, budget_bytes: int) -> bool:
        """True if it is this one's turn and there is room; then it counts as running.

        Who is not in the queue, or no longer because it was damaged, is put behind all others.
        """
        with self._locked() as entries:
            mine = next((entry for entry in entries if entry.token == token), None)
            if mine is None:
                last = max((entry.ticket for entry in entries), default=0)
                mine = QueueEntry(token=token, ticket=last + 1, bytes=planned_bytes, running=False)
                entries.append(mine)
            if any(not entry.running and entry.ticket < mine.ticket for entry in entries):
                return False
            taken = sum(entry.bytes for entry in entries if entry.running)
            if taken and taken + mine.bytes > budget_bytes:
                return False
            entries.remove(mine)
            entries.append(mine._replace(running=True))
            return True

    def entries(self) -> tuple[QueueEntry, ...]:
        """Who runs and who waits now."""
        with self._locked() as entries:
            return tuple(entries)

    @contextmanager
    def _locked(self) -> Iterator[list[QueueEntry]]:
        with _threads:
            lock_file(self._file)
            try:
                self._file.seek(0)
                entries = _parse(self._file.read(_MOST_BYTES))
                entries = [entry for entry in entries if _lives(self._folder / entry.token)]
                yield entries
                self._file.seek(0)
                self._file.truncate()
                json.dump(entries, self._file)
                self._file.flush()
            finally:
                unlock_file(self._file)


# A lock on a file is one for all threads of a process that opened it once; ours open it each.
_threads = threading.Lock()


def _open(folder: Path | None) -> AdmissionQueue | None:
    """The queue of this user on this machine; None where there can be none."""
    try:
        home = folder or Path(tempfile.gettempdir()) / f"outlive-{user_id()}"
        home.mkdir(mode=0o700, exist_ok=True)
        status = os.lstat(home)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != user_id():
            return None  # another user's: not to be trusted
        descriptor = open_private(home / _TICKETS, os.O_CREAT)
        file = os.fdopen(descriptor, "r+", encoding="ascii", errors="replace")
    except OSError:
        return None
    return AdmissionQueue(file, home)


def _parse(text: str) -> list[QueueEntry]:
    """The entries; a damaged queue is begun anew."""
    try:
        entries = msgspec.json.decode(text or "[]", type=list[QueueEntry])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []
    return [entry for entry in entries if _TOKEN.fullmatch(entry.token)]


def _lives(path: Path) -> bool:
    """True if a process holds the lock of a token; the file of a token without one is removed."""
    try:
        lock = open_private(path)
    except OSError:
        return False
    try:
        lock_file(lock, wait=False)
    except OSError:
        return True
    else:
        path.unlink(missing_ok=True)
        return False
    finally:
        os.close(lock)


# Waits until there is room for a model; gives why there never is, or nothing.
Admit = Callable[[Examination], AbstractContextManager[str]]
Read = Callable[[Any], Reading]
ExamineModel = Callable[[Reading, ScanOptions, Admit], Examination]

# Up to this size a file is read and not mapped: one that is cut short meanwhile cannot end this process then.
_READ_BYTES = 256 << 20
_MOST_FINDINGS = 30
_MOST_WHERE = 200
_MOST_NOTE = 300
_MOST_OUTPUTS = 16
_MOST_TEXT = 200
_SAMPLES = 16
# What a row has of a plan.
_PLANNED = ("peak_bytes", "total_bytes", "arena_bytes", "exact", "bound")
# What a model without a plan is taken to need: its file several times, and some.
_UNPLANNED_SHARE = 4
_UNPLANNED_BYTES = 64_000_000


def scan_file(task: ScanTask, examine: ExamineModel, read: Read) -> Row:
    """The row of a file. One that changes while it is looked at is looked at again, and said to change."""
    start = time.monotonic()
    row = _look(task, examine, read)
    if stamp(task.place) != (row.file_bytes, row.mtime_ns) and row.mtime_ns:
        row = _look(task, examine, read)
        row = replace(row, changed=stamp(task.place) != (row.file_bytes, row.mtime_ns))
    return replace(row, seconds=round(time.monotonic() - start, 3))


def row_without_scan(task: ScanTask, outcome: Outcome, note: str) -> Row:
    """The row of a file without what a scan finds."""
    size, mtime_ns = stamp(task.place)
    return Row(
        path=task.path,
        name=task.name,
        outcome=outcome,
        sha256=task.sha256,
        file_bytes=size,
        mtime_ns=mtime_ns,
        order_key=task.order_key,
        note=note[:_MOST_NOTE],
        host=platform.node(),
        versions=versions(),
        number=task.number,
    )


def _look(task: ScanTask, examine: ExamineModel, read: Read) -> Row:
    bare = row_without_scan(task, "failed", "")
    try:
        return _row(bare, _examined(task, examine, read), task)
    except Exception as error:
        # A bug of ours must not cost the other files; the row says what to report.
        note = shortage(error) or f"a bug in outlive: {type(error).__name__}: {error}"
        return replace(bare, note=note[:_MOST_NOTE])


def stamp(path: str) -> tuple[int, int]:
    """Size and time of a file; zeros if it cannot be seen."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _examined(task: ScanTask, examine: ExamineModel, read: Read) -> Examination:
    """What the file comes to; one without a graph is not run."""
    reading, order = _read(task.place, read), task.order
    runs = reading.model is not None and bool(reading.model.subgraphs)
    order = order if runs else replace(order, run=False, delegates=False)
    budget = order.memory_bytes
    if budget is None and (order.run or order.delegates):
        budget = usable_bytes()

    @contextmanager
    def admit(seen: Examination) -> Iterator[str]:
        """Wait for room; what is larger than all the room there is stays on the ground."""
        planned = _planned_bytes(seen)
        if budget is not None and planned > budget:
            yield f"{format_bytes(planned)} planned, {format_bytes(budget)} available"
            return
        with admitted(planned, budget):
            yield ""

    return examine(reading, replace(order, memory_bytes=budget), admit)


def _read(path: str, read: Read) -> Reading:
    """The file, read rather than mapped unless it is huge."""
    try:
        with open(path, "rb", opener=_open_regular) as file:
            if os.fstat(file.fileno()).st_size <= _READ_BYTES:
                return read(file)
    except (OSError, ValueError):
        pass  # reading by path finds the words for it
    return read(path)


def _open_regular(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe; refuse what is no regular file."""
    if not os.path.isfile(path):
        raise OSError("not a regular file")
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _planned_bytes(seen: Examination) -> int:
    planned = None if seen.plan is None else needed_bytes(seen.plan)
    return (
        seen.checked.reading.file_bytes * _UNPLANNED_SHARE + _UNPLANNED_BYTES if planned is None else planned
    )


def _row(bare: Row, seen: Examination, task: ScanTask) -> Row:
    findings = _once(_all_findings(seen))
    reading, plan = seen.checked.reading, seen.plan
    model = reading.model
    tried = () if seen.coverage is None else seen.coverage.accelerators
    codes = Counter(finding.code for finding in findings)
    severities = Counter(finding.severity for finding in findings)
    planned = {} if plan is None else {name: getattr(plan, name) for name in _PLANNED}
    return replace(
        bare,
        outcome=_outcome(seen),
        sha256=bare.sha256 if model is None else model.sha256,
        file_bytes=reading.file_bytes or bare.file_bytes,
        errors=severities[Severity.ERROR],
        warnings=severities[Severity.WARNING],
        notes=severities[Severity.NOTE],
        codes=dict(sorted(codes.items())),
        findings=tuple(
            copy_fields(FindingSummary, item, severity=item.severity.value, where=item.where[:_MOST_WHERE])
            for item in findings[:_MOST_FINDINGS]
        ),
        operators=None if model is None else sum(1 for _ in model.operators()),
        **planned,
        devices=tuple(_fit(device.name, verdict) for device, verdict in seen.fits),
        run=None if seen.flight is None or seen.diagnosis is not None else _run_seen(seen.flight),
        death=None if seen.diagnosis is None else _death(seen.diagnosis, seen.flight),
        accelerators=tuple(copy_fields(AcceleratorSummary, one) for one in tried),
        note="; ".join(" ".join(note.split()) for note in _notes(seen, task))[:_MOST_NOTE],
    )


def _outcome(seen: Examination) -> Outcome:
    """What it came to, in one word: how the run ended, or what the check says of the file."""
    reading, diagnosis = seen.checked.reading, seen.diagnosis
    if reading.identity.kind in ("unreadable", "directory"):
        return "unreadable"
    if seen.not_run:
        return "too large"
    broken = reading.model is None or bool(file_errors(reading))
    if diagnosis is not None:
        hung = diagnosis.end is not None and diagnosis.end.manner == "deadline"
        ended: Outcome = "hung" if hung else "died" if diagnosis.died else "refused"
        return "broken" if broken and ended == "refused" else ended
    if seen.flight is not None:
        return "ran"
    return "broken" if broken else "flawed" if seen.checked.judgement.errors else "sound"


def _all_findings(seen: Examination) -> list[Finding]:
    """In the order they were found: what comes later says more."""
    verdict = seen.diagnosis.verdict if seen.diagnosis is not None else None
    parts = (
        seen.checked.judgement.findings,
        seen.plan_findings,
        seen.flight_findings,
        () if verdict is None else (verdict,),
        seen.coverage_findings,
    )
    return [finding for part in parts for finding in part]


def _notes(seen: Examination, task: ScanTask) -> Iterator[str]:
    if seen.checked.reading.identity.kind in ("unreadable", "directory") and os.path.isdir(task.place):
        yield "cannot list this folder"
    yield from seen.notes
    if seen.not_run:
        yield f"not run: {seen.not_run}"


def _fit(device: str, verdict: Verdict | None) -> DeviceFit:
    if verdict is None:
        return DeviceFit(device=device, word="not planned")
    return copy_fields(DeviceFit, verdict, device=device)


def _death(diagnosis: Diagnosis, flight: Flight | None) -> DeathSummary:
    verdict, op = diagnosis.verdict, diagnosis.op
    if verdict is None:
        text = "" if flight is None else flight.error_text
        return DeathSummary(cause="unknown", code="", headline=text[:_MOST_TEXT], stage=diagnosis.stage)
    op_text = "" if op is None else op.type if op.index is None else f"op {op.index} {op.type}"
    return copy_fields(DeathSummary, diagnosis, verdict, op=op_text[:_MOST_TEXT])


def _run_seen(flight: Flight) -> RunSummary:
    calls = [1000 * seconds for stage, seconds in flight.stages if stage.startswith("invoke")]
    return RunSummary(
        milliseconds=round(statistics.median(calls[1:] or calls), 4) if calls else None,
        first_milliseconds=round(calls[0], 4) if calls else None,
        peak_bytes=flight.peak_bytes,
        outputs=tuple(
            copy_fields(
                OutputSummary,
                item,
                name=item.name[:_MOST_TEXT],
                samples=_samples(flight.values, item.name),
            )
            for item in flight.outputs[:_MOST_OUTPUTS]
        ),
    )


def _samples(values: Mapping[str, Any], name: str) -> tuple[float, ...]:
    """A few numbers of an output, evenly taken: enough to tell rounding from another result."""
    import numpy as np

    array = np.asarray(values.get(name, ()))
    if array.size == 0 or array.dtype.kind not in "biuf":
        return ()
    places = np.linspace(0, array.size - 1, min(_SAMPLES, array.size)).astype(np.int64)
    return tuple(float(f"{float(value):.9g}") for value in array.reshape(-1)[places])


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Each finding once, the grave ones first: what a check saw, a diagnosis may say again."""
    weight = {severity: place for place, severity in enumerate(Severity)}
    kept = {(item.code, item.where): item for item in reversed(findings)}
    return sorted(kept.values(), key=lambda item: (weight[item.severity], item.code, item.where))
