"""`blackbox`: why a notebook's kernel died, after the fact."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from outlive.finding import Evidence, Finding, Remedy, Tag
from outlive.kernel_deaths import record_store
from outlive.kernel_deaths.kernel_recorder import describe
from outlive.kernel_deaths.kernel_recorder import start as record_kernel
from outlive.kernel_deaths.record import KernelDeath, KernelDeaths, Record
from outlive.kernel_deaths.server_watch import ServerWatch
from outlive.names import safe
from outlive.process.child.watcher.cell_notes import is_in_cell
from outlive.units import format_bytes
from outlive.verbs.judging import JUDGE

__all__ = [
    "ACTIONS", "blackbox", "explain_death", "is_in_cell", "record_kernel", "take_unshown", "watch_kernel",
]  # fmt: skip

ACTIONS = ("last", "list", "show", "clear", "on", "off")
# What a rule says of a model's file or of an error that was caught says nothing here: there is neither.
_ABOUT_MODELS = ("FILE", "error.flight")
# A cell may have this share of the memory; the rest is for the kernel and the system.
_SHARE = 0.7


def blackbox(action: str = "last", name: str | None = None) -> KernelDeaths:
    """Show why notebook kernels died: those that ran `%load_ext outlive`.

    `action` is "last" (the newest death), "list" (all records, the newest first), "show" (the record of this
    `name`), "clear" (remove the records), "on" or "off" (record from the next kernel on, or never). Raises
    LookupError if no record has that name.

    >>> outlive.blackbox("list")
    KernelDeaths(0 deaths)
    """
    if action not in ACTIONS:
        raise ValueError(f"unknown action {action!r}; choose from {', '.join(ACTIONS)}")
    if (name is None) == (action == "show"):
        wanted = "needs the name of a record" if action == "show" else "takes no name"
        raise ValueError(f"{action} {wanted}; see `outlive blackbox list`")
    removed = 0
    if action in ("on", "off"):
        record_store.switch(on=action == "on")
    else:
        record_store.tidy()
    if action == "clear":
        removed = record_store.clear()
    deaths = tuple(map(explain_death, _records(action, name)))
    return KernelDeaths(action=action, deaths=deaths, removed=removed, recording=not record_store.is_off())


def _records(action: str, name: str | None) -> tuple[Record, ...]:
    if name is not None:
        record = record_store.load(name)
        if record is None:
            raise LookupError(f"unknown record {safe(name, 80)!r}: no kernel has died that was watched")
        return (record,)
    if action == "list":
        return tuple(record_store.every())
    return tuple(itertools.islice(record_store.every(), 1)) if action == "last" else ()


def take_unshown() -> KernelDeaths | None:
    """The newest death of this kernel's notebook that was not shown yet; it counts as shown from now on."""
    record_store.tidy()
    record = record_store.take_unshown(describe())
    return None if record is None else KernelDeaths(deaths=(explain_death(record),))


def watch_kernel(about: Mapping[str, Any], on_end: Callable[[str], None]) -> ServerWatch | None:
    """A watch over a kernel that a Jupyter server is about to start; None where recording is off.

    `on_end` is called in another thread with the name of the record, which is empty after a normal end.
    """
    return None if record_store.is_off() else ServerWatch(about, on_end)


def explain_death(record: Record) -> KernelDeath:
    """A kernel's death with its finding: the same rules as for every death.

    What can be done is about a cell instead of a model's file.
    """
    finding = JUDGE.find("flight", record.to_flight())[0]
    kept = [item for item in finding.remedies if not any(word in item.command for word in _ABOUT_MODELS)]
    worker = _in_a_worker(record, finding)
    # Who sent a signal from outside is worth more than a cell that gets it again.
    remedies = (*kept, *worker) if finding.code == "D508" else (*worker, *kept)
    judged = replace(
        finding,
        why=_why(record, finding),
        evidence=(*finding.evidence, *_lost(record)),
        remedies=remedies,
    )
    return KernelDeath(record=record, finding=judged)


def _why(record: Record, finding: Finding) -> str:
    if record.lost:
        return "its recorder ended too, as when a whole container is stopped or killed"
    if finding.code == "D509" and record.exited is not None:
        return f"Python code called os._exit({record.exited}), which ends the process at once"
    return finding.why


def _lost(record: Record) -> tuple[Evidence, ...]:
    """What is known of the memory at an end without a witness."""
    if not record.lost or not record.timeline or not record.memory_bytes:
        return ()
    last = record.before_bytes + record.timeline[-1].bytes
    fact = f"used {format_bytes(last)} of {format_bytes(record.memory_bytes)} at the last measurement"
    return (Evidence(fact=fact, source="memory timeline"),)


def _in_a_worker(record: Record, finding: Finding) -> tuple[Remedy, ...]:
    """The cell again, in a process that may die."""
    if not record.busy:
        return ()
    command = "%%outlive"
    if record.restarted:
        command += " --seconds 60"
    elif finding.code in ("D501", "D510") and record.memory_bytes:
        command += f" --memory {max(1, int(record.memory_bytes * _SHARE / 1e6))}MB"
    action = "begin the cell with this line: it then runs in a worker, and the kernel outlives it"
    return (Remedy(action=action, tag=Tag.SAME_RESULTS, command=command),)
