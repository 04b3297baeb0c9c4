"""Looks at one file: reads, checks, plans it, and runs and diagnoses it if asked to. One Row comes back.

This is what engine processes do, on this machine or another. Nothing a file does is raised.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from outlive.arena.budget import device_budget, needed_bytes, weigh
from outlive.arena.devices import Device
from outlive.arena.plan import Plan
from outlive.arena.questions import Wish
from outlive.arena.room import arena_for
from outlive.errors import shortage
from outlive.finding import Finding, Severity
from outlive.fitting.checking import check_reading, make_order
from outlive.fitting.planning import plan_model
from outlive.fitting.verdicts import judge_plan
from outlive.fleet.admission import admitted, usable_bytes
from outlive.fleet.nouns import Order, Task, versions
from outlive.fleet.rows import DeviceFit, FindingSeen, Outcome, Row
from outlive.fleet.running import Landed, run_model, try_accelerators
from outlive.model import Model, Reading, read_source
from outlive.rules.catalogue import file_errors
from outlive.units import format_bytes

# Up to this size a file is read and not mapped: one that is cut short meanwhile cannot end this process then.
_READ_BYTES = 256 << 20
_MOST_FINDINGS = 30
_MOST_WHERE = 200
_MOST_NOTE = 300
# What a model is taken to need where nobody knows: its weights several times, and some.
_UNPLANNED_SHARE = 4
_UNPLANNED_BYTES = 64_000_000


@dataclass(slots=True)
class _Seen:
    """What is known so far."""

    reading: Reading
    outcome: Outcome
    findings: list[Finding] = field(default_factory=list)
    plan: Plan | None = None
    devices: tuple[DeviceFit, ...] = ()
    landed: Landed | None = None
    notes: list[str] = field(default_factory=list)


def look(task: Task) -> Row:
    """The row of a file. One that changes while it is looked at is looked at again, and said to change."""
    start = time.monotonic()
    row = _look(task)
    if stamp(task.place) != (row.file_bytes, row.mtime_ns) and row.mtime_ns:
        row = _look(task)
        row = replace(row, changed=stamp(task.place) != (row.file_bytes, row.mtime_ns))
    return replace(row, seconds=round(time.monotonic() - start, 3))


def unseen(task: Task, outcome: Outcome, note: str) -> Row:
    """The row of a file that nobody could look at."""
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


def _look(task: Task) -> Row:
    bare = unseen(task, "failed", "")
    try:
        return _row(bare, _see(task))
    except Exception as error:
        # A bug of ours must not cost the other files; the row says what to report.
        note = shortage(error) or f"a bug of outlive: {type(error).__name__}: {error}"
        return replace(bare, note=note[:_MOST_NOTE])


def stamp(path: str) -> tuple[int, int]:
    """Size and time of a file; zeros if it cannot be seen."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _see(task: Task) -> _Seen:
    order = task.order
    reading = _read(task.place)
    checked = check_reading(reading, make_order(select=order.select, ignore=order.ignore))
    found: Outcome = "flawed" if checked.judgement.errors else "sound"
    seen = _Seen(reading=reading, outcome=found, findings=list(checked.judgement.findings))
    if reading.identity.kind in ("unreadable", "directory"):
        seen.outcome = "unreadable"
        if os.path.isdir(task.place):
            seen.notes.append("it is a folder, and what is in it cannot be listed")
        return seen
    model = reading.model
    if model is None or file_errors(reading):
        seen.outcome = "broken"
    else:
        _plan(seen, model, order)
    if model is not None and model.subgraphs:
        if order.run:
            _run(seen, task)
        if order.delegates and seen.outcome != "broken":
            _try(seen, model, task)
    return seen


def _read(path: str) -> Reading:
    """The file, read rather than mapped unless it is huge."""
    try:
        with open(path, "rb", opener=_open_regular) as file:
            if os.fstat(file.fileno()).st_size <= _READ_BYTES:
                return read_source(file)
    except (OSError, ValueError):
        pass  # reading by path finds the words for it
    return read_source(path)


def _open_regular(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe; refuse what is no regular file."""
    if not os.path.isfile(path):
        raise OSError("not a regular file")
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _plan(seen: _Seen, model: Model, order: Order) -> None:
    """The plan on this kind of machine, and the verdict for each device."""
    try:
        seen.plan = plan_model(model, Wish(accelerator=order.accelerator))
        if not seen.plan.refusals:  # what the runtime refuses, the check has said already
            seen.findings += judge_plan(seen.plan)
    except Exception as error:
        # As in a check: what one part cannot do must not cost what the others found, and is said.
        seen.notes.append(f"not planned: {type(error).__name__}: {error}")
    seen.devices = tuple(_fit(model, device, seen.plan) for device in order.devices)


def _fit(model: Model, device: Device, plan: Plan | None) -> DeviceFit:
    try:
        wish = make_order(device=device).wish
        # A plan for a microcontroller is one for its kernels and its layout of structures.
        if plan is None or wish.accelerator != plan.accelerator or wish.accelerator == "tflm":
            plan = plan_model(model, wish)
        verdict = weigh(plan, device_budget(device), arena=arena_for(model, plan, wish.abi))
    except Exception:
        return DeviceFit(device=device.name, word="not planned")
    return DeviceFit(
        device=device.name,
        word=verdict.word,
        needed_bytes=verdict.needed_bytes,
        margin_bytes=verdict.margin_bytes,
    )


def _run(seen: _Seen, task: Task) -> None:
    """Run it when there is room; what is larger than all the room there is stays on the ground."""
    order = task.order
    budget = order.memory_bytes if order.memory_bytes is not None else usable_bytes()
    planned = _planned_bytes(seen)
    if budget is not None and planned > budget:
        seen.outcome = "too large"
        seen.notes.append(f"not run: {format_bytes(planned)} planned, {format_bytes(budget)} to be had")
        return
    with admitted(planned, budget):
        seen.landed = run_model(task.place, order, budget)
    landed = seen.landed
    seen.findings += landed.findings
    if landed.outcome != "refused" or seen.outcome != "broken":
        seen.outcome = landed.outcome


def _planned_bytes(seen: _Seen) -> int:
    planned = None if seen.plan is None else needed_bytes(seen.plan)
    return seen.reading.file_bytes * _UNPLANNED_SHARE + _UNPLANNED_BYTES if planned is None else planned


def _try(seen: _Seen, model: Model, task: Task) -> None:
    budget = task.order.memory_bytes if task.order.memory_bytes is not None else usable_bytes()
    with admitted(_planned_bytes(seen), budget):
        accelerators, findings, problem = try_accelerators(model, task.place, task.order)
    seen.findings += findings
    seen.landed = replace(seen.landed or Landed(outcome=seen.outcome), accelerators=accelerators)
    if problem:
        seen.notes.append(problem)


def _row(bare: Row, seen: _Seen) -> Row:
    findings = _once(seen.findings)
    model, plan, landed = seen.reading.model, seen.plan, seen.landed
    codes: dict[str, int] = {}
    for finding in findings:
        codes[finding.code] = codes.get(finding.code, 0) + 1
    return replace(
        bare,
        outcome=seen.outcome,
        sha256=bare.sha256 if model is None else model.sha256,
        file_bytes=seen.reading.file_bytes or bare.file_bytes,
        errors=_count(findings, Severity.ERROR),
        warnings=_count(findings, Severity.WARNING),
        notes=_count(findings, Severity.NOTE),
        codes=dict(sorted(codes.items())),
        findings=tuple(map(_told, findings[:_MOST_FINDINGS])),
        operators=None if model is None else sum(1 for _ in model.operators()),
        peak_bytes=None if plan is None else plan.peak_bytes,
        total_bytes=None if plan is None else plan.total_bytes,
        arena_bytes=None if plan is None else plan.arena_bytes,
        exact=None if plan is None else plan.exact,
        bound=None if plan is None else plan.bound,
        devices=seen.devices,
        run=None if landed is None else landed.run,
        death=None if landed is None else landed.death,
        accelerators=() if landed is None else landed.accelerators,
        note="; ".join(" ".join(note.split()) for note in seen.notes)[:_MOST_NOTE],
    )


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Each finding once, the grave ones first: what a check saw, a diagnosis may say again."""
    weight = {severity: place for place, severity in enumerate(Severity)}
    kept = {(item.code, item.where): item for item in reversed(findings)}
    return sorted(kept.values(), key=lambda item: (weight[item.severity], item.code, item.where))


def _count(findings: Sequence[Finding], severity: Severity) -> int:
    return sum(1 for finding in findings if finding.severity is severity)


def _told(finding: Finding) -> FindingSeen:
    return FindingSeen(
        code=finding.code,
        name=finding.name,
        severity=finding.severity.value,
        headline=finding.headline,
        where=finding.where[:_MOST_WHERE],
    )
