"""Deaths of kernels: which cell, what happened, its memory, and what was printed last; or all in a table."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path

from outlive.diagnosis.frame_hints import stage_in
from outlive.finding import Finding
from outlive.kernel_deaths.record import KernelDeath, KernelDeaths, Record
from outlive.names import safe
from outlive.process.flight import Flight
from outlive.rendering import page as ui
from outlive.rendering.pages.run import memory_chart
from outlive.rules.flight_end import STAGE_WORDS, own_place, was_busy
from outlive.units import format_bytes, plural

_MOST_LINES = 12
# Where native code was called from Python (CPython, Python/ceval.c, Objects/methodobject.c, Objects/call.c).
_PYTHON = ("_PyEval_", "PyEval_", "_PyObject_", "PyObject_", "cfunction_")


def page(found: KernelDeaths) -> ui.Page:
    """The page of `outlive blackbox`."""
    if found.action in ("last", "show") and found.deaths:
        return _death(found.deaths[0])
    word = (
        plural(len(found.deaths), "kernel crash", "kernel crashes") if found.deaths else "no kernel crashes"
    )
    return ui.Page(
        title="black box",
        kind="blackbox",
        verdict=ui.PageVerdict("plain", word),
        sections=(_list(found),) if found.deaths else (),
    )


def sentence(death: KernelDeath) -> str:
    """The death in a line or two: the cell, the cause, the place, what to do."""
    record, finding, flight = death.record, death.finding, death.record.to_flight()
    cell = f"{record.cell[0].upper()}{record.cell[1:]}" if record.busy else "The kernel"
    if record.restarted:
        doing = "waiting" if was_busy(flight) is False else "running"
        said = f"{cell} did not end: it was still {doing} after {record.cell_seconds:,.0f} s{_at(finding)}, "
        said += "when the kernel was restarted"
    elif record.was_short_of_memory and finding.code == "D501":
        said = f"{cell} died: out of memory{_at(finding)}. {_room(record)}"
    else:
        line = own_place(flight)
        places = _in_operator(flight), f" at {line}" if line else _at(finding)
        said = f"{cell} died: {_cause(death, flight)}{','.join(filter(None, places))}"
        said += _fault(finding, flight)
    return f"{said}. {_advice(finding)}".strip()


# What people call the end by a signal.
_ENDS = {
    "SIGSEGV": "segmentation fault",
    "SIGBUS": "bus error",
    "SIGABRT": "abort in native code",
    "SIGFPE": "arithmetic fault in native code",
    "SIGILL": "illegal instruction",
    "SIGKILL": "killed from outside, and not for memory",
}


def _cause(death: KernelDeath, flight: Flight) -> str:
    if death.finding.headline.startswith("Stack overflow"):
        return f"s{death.finding.headline[1:]}"
    if flight.signal is not None:
        return f"{_ENDS.get(flight.signal, 'ended by a signal')} ({flight.signal})"
    if death.record.exited is not None:
        return f"it called os._exit({death.record.exited})"
    if flight.exit_code is not None:
        return f"its process ended with exit code {flight.exit_code}"
    return death.finding.headline


def _in_operator(flight: Flight) -> str:
    """The operator and the stage, as far as they are known: ` in CONV_2D (operator 12) during invoke`."""
    stage = STAGE_WORDS.get(stage_in(flight.frames), "")
    during = f" {stage}" if stage else ""
    if flight.op is None:
        return during
    index = "" if flight.op.index is None else f" (operator {flight.op.index})"
    return f" in {safe(flight.op.type, 80)}{index}{during}"


def _fault(finding: Finding, flight: Flight) -> str:
    """What is wrong with the model that was open, if that explains the end."""
    if finding.code.startswith("D") or len(flight.model_files) != 1:
        return ""
    return f". {finding.headline} ({safe(os.path.basename(flight.model_files[0]), 80)})"


def _at(finding: Finding) -> str:
    """The line, if it is known: ` at cell [2]:3 in main`."""
    return f" at {finding.where}" if ":" in finding.where else ""


def _room(record: Record) -> str:
    """What there was, and what the kernel held."""
    whose = "container" if record.memory_limit == "cgroup_limit_bytes" else "machine"
    peak = record.before_bytes + max((point.bytes for point in record.timeline), default=0)
    had = f"This {whose} has {format_bytes(record.memory_bytes)}, and" if record.memory_bytes else ""
    return f"{had} the kernel held at least {format_bytes(peak)}".strip()


def _advice(finding: Finding) -> str:
    """The first thing to do; a cell in a worker is said in words, for all others are about files."""
    worker = next((item.command for item in finding.remedies if item.command.startswith("%%outlive")), "")
    if worker and (finding.code != "D508" or finding.cause):
        return f"Begin the cell with {worker}: it then runs in a worker, and the kernel outlives it."
    first = finding.remedies[0] if finding.remedies else None
    if first is None:
        return ""
    command = f": {first.command}" if first.command else ""
    return f"{first.action[0].upper()}{first.action[1:]}{command}."


def _list(found: KernelDeaths) -> ui.Section:
    columns = ui.columns("name: mono | cell | end | finding: wide | notebook or folder: mono wide")
    rows = []
    for death in found.deaths:
        record, end = death.record, death.record.to_flight()
        how = end.signal or (f"exit code {end.exit_code}" if end.exit_code is not None else "unknown")
        said = f"{death.finding.code} {death.finding.headline}"
        rows.append((record.name, record.cell, how, said, record.notebook or record.folder))
    table = ui.Table("deaths", "Newest first", columns, rows, brief=len(rows))
    return ui.Section("list", "Deaths", (table,))


def _death(death: KernelDeath) -> ui.Page:
    record = death.record
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.ended))
    sections = ui.findings_sections((death.finding,), "Why")
    sections.append(ui.Section("record", "Record", tuple(_record(death))))
    return ui.Page(
        title=Path(record.notebook).name or record.name or "kernel",
        kind="blackbox",
        verdict=ui.PageVerdict("bad", _headline(record), f"{moment}."),
        sections=tuple(sections),
    )


def _headline(record: Record) -> str:
    """What it was doing: `the kernel died in cell [12] after 3.4 s`."""
    if record.restarted:
        return f"{record.cell} did not end in {record.cell_seconds:,.0f} s, and the kernel was restarted"
    if record.busy:
        return f"the kernel died in {record.cell} after {record.cell_seconds:,.1f} s"
    after = f", after {record.cell}" if record.cell_number is not None else ""
    return f"the kernel died between cells{after}"


def _record(death: KernelDeath) -> Iterator[ui.Block]:
    """The cell, what was printed last, the stacks, and memory."""
    record = death.record
    flight = record.to_flight()
    inside = list(itertools.takewhile(lambda frame: not frame.startswith(_PYTHON), flight.frames))
    texts = (
        (record.cell if record.cell_number is not None else "cell", record.cell_source.splitlines()),
        ("Standard error", record.stderr_tail.splitlines()[-_MOST_LINES:]),
        ("Native stack", inside),
        ("Python stack", _calls(flight.fault_trace.splitlines())),
    )
    for title, lines in texts:
        if any(map(str.strip, lines)):
            yield ui.Pre(title, "\n".join(_shortened(lines)), is_open=True, detail=0)
    if record.timeline:
        # The verdict of a death for want of memory says so itself.
        yield ui.Words(_memory(record), detail=1 if death.finding.code == "D501" else 0)
    if len(record.timeline) > 2:
        yield memory_chart(flight, None)
    if len(flight.frames) > len(inside):
        yield ui.Pre("Whole native stack", "\n".join(flight.frames), detail=2)
    if flight.fault_trace.strip():
        yield ui.Pre("All Python stacks", flight.fault_trace, detail=2)


def _memory(record: Record) -> str:
    """What it held before, at most, and the memory of the machine."""
    peak = record.before_bytes + max(point.bytes for point in record.timeline)
    words = f"{format_bytes(record.before_bytes)} before the cell, at least {format_bytes(peak)} at the end"
    if record.memory_bytes:
        words += f"; this machine or container has {format_bytes(record.memory_bytes)}"
    return f"{words}."


def _calls(stack: list[str]) -> list[str]:
    """The frames of the thread that died, down to its cell; the kernel's own machinery says nothing."""
    start = next((place for place, line in enumerate(stack) if line.startswith("Current thread")), 0)
    calls = []
    for line in stack[start:]:
        if any(word in line for word in ("IPython/core", "ipykernel/", "Extension modules:")):
            break
        if line.startswith("  File"):
            calls.append(line.strip())
    return calls


def _shortened(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    if len(lines) <= _MOST_LINES + 1:
        return lines
    return [*lines[:_MOST_LINES], f"... {len(lines) - _MOST_LINES} more lines"]
