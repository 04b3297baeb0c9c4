"""What the rules make of a kernel's death, with what can be done about a cell instead of a model's file."""

from __future__ import annotations

from dataclasses import replace

from outlive.finding import Evidence, Finding, Remedy, Tag
from outlive.kernel_deaths.record import Record
from outlive.units import format_bytes
from outlive.worker.verdicts import Judge

# What a rule says of a model's file or of an error that was caught says nothing here: there is neither.
_ABOUT_MODELS = ("FILE", "error.flight")
# A cell may have this share of what there is; the rest is for the kernel and the system.
_SHARE = 0.7


def judge_death(record: Record, judge: Judge) -> Finding:
    """The finding on a kernel's death: the same rules as for every death."""
    finding = judge.find("flight", record.to_flight())[0]
    kept = [item for item in finding.remedies if not any(word in item.command for word in _ABOUT_MODELS)]
    return replace(
        finding,
        why=_why(record, finding),
        evidence=(*finding.evidence, *_lost(record)),
        remedies=(*kept, *_in_a_worker(record, finding)),
    )


def _why(record: Record, finding: Finding) -> str:
    if record.lost:
        return "its recorder was ended too: a container that is stopped or killed as a whole looks like this"
    if finding.code == "D509" and record.exited is not None:
        return f"Python code called os._exit({record.exited}), which ends the process at once"
    return finding.why


def _lost(record: Record) -> tuple[Evidence, ...]:
    """What is known of the memory at an end that nobody saw."""
    if not record.lost or not record.timeline or not record.memory_bytes:
        return ()
    last = record.before_bytes + record.timeline[-1].bytes
    fact = f"it held {format_bytes(last)} of {format_bytes(record.memory_bytes)} when it was last looked at"
    return (Evidence(fact=fact, source="memory timeline"),)


def _in_a_worker(record: Record, finding: Finding) -> tuple[Remedy, ...]:
    """The cell again, in a process that may die."""
    if not record.busy:
        return ()
    command = "%%outlive"
    if finding.code in ("D501", "D510") and record.memory_bytes:
        command += f" --memory {max(1, int(record.memory_bytes * _SHARE / 1e6))}MB"
    action = "begin the cell with this line: it then runs in a worker, and the kernel outlives it"
    return (Remedy(action=action, tag=Tag.SAME_RESULTS, command=command),)
